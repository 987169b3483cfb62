"""What the interview page computes, beyond what other pages compute too."""

CLAIMS = {
    'first_compute_bound(lambda M: gemm_intensity(M, 3584, 18944))': '175',
    'attention(28, 4, 128, 1, 128).intensity:.2f': '6.64',
    'attention(28, 28, 128, 2048, 2048).intensity:,.0f': '1,024',
    'QWEN.weight_bytes_read() / 2**30:.2f': '13.17',
    'QWEN.decode_weights_and_kv(1, 32768).traffic["KV"] / QWEN.decode_weights_and_kv(1, 32768).bytes:.1%': '11.7%',
    'attention(28, 4, 128, 2048, 2048, passes=4).intensity:.1f': '61.8',
    'RTX_4090.kernel_by_kernel([attention(28, 4, 128, 2048, 2048, passes=4) * QWEN.layers]) * 1e3:.1f': '27.0',
    'RTX_4090.kernel_by_kernel([attention(28, 4, 128, 2048, 2048) * QWEN.layers]) * 1e3:.1f': '10.2',
    'RTX_4090.kernel_by_kernel([attention(28, 4, 128, 2048, 2048, mask="causal") * QWEN.layers]) * 1e3:.1f': '5.1',
    'attention(28, 4, 128, 1, 2048, passes=4).intensity:.2f': '6.29',
    'attention(28, 4, 128, 1, 2048).intensity:.2f': '6.98',
    'attention(28, 4, 128, 2, 2048).intensity:.3f': '13.905',
    'attention(28, 4, 128, 4, 2048).intensity:.3f': '27.622',
    'attention(28, 4, 128, 8, 2048).intensity:.3f': '54.510',
    'attention(28, 4, 128, 1, 2048, b_kv=1, traffic="kv-only").intensity:.0f': '14',
    'attention(28, 4, 128, 1, 2048, b_kv=1).intensity:.3f': '13.905',
    'attention(28, 4, 128, 1, 2048, b_kv=0.5, traffic="kv-only").intensity:.0f': '28',
    'attention(28, 4, 128, 1, 2048, b_kv=0.5).intensity:.2f': '27.62',
    'first_compute_bound(lambda L: attention(28, 4, 128, L, 2048).intensity)': '26',
    'first_compute_bound(lambda L: attention(28, 4, 128, L, 2048, mask="causal").intensity, at_most=2048)': '26',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 2048).values()) * 1e3:.2f': '14.15',
    (
        'RTX_4090.kernel_by_kernel([gemm(4, K, N) * QWEN.layers for K, N in QWEN.projections().values()] '
        '+ [attention(28, 4, 128, 4, 2048, mask="causal") * QWEN.layers, gemm(4, 3584, 152064)]) * 1e3:.2f'
    ): '14.17',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(64, 2048).values()) * 1e3:.1f': '21.9',
    (
        'RTX_4090.kernel_by_kernel([gemm(1, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(1, 2048)["attention"], QWEN.decode_kernels(1, '
        '2048)["lm_head"]]) * 1e3:.1f'
    ): '4.5',
    (
        'RTX_4090.kernel_by_kernel([gemm(64, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(64, 2048)["attention"], QWEN.decode_kernels(64, '
        '2048)["lm_head"]]) * 1e3:.1f'
    ): '13.6',
    (
        'RTX_4090.kernel_by_kernel([gemm(256, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(256, 512)["attention"], QWEN.decode_kernels(256, '
        '512)["lm_head"]]) * 1e3:.1f'
    ): '29.5',
    (
        'RTX_4090.kernel_by_kernel([cost for name, cost in QWEN.decode_kernels(1, 2048).items() '
        'if name != "attention"] '
        '+ [attention(28, 4, 128, 1, 2048, b_kv=1) * (1 * QWEN.layers)]) * 1e3:.1f'
    ): '14.1',
    (
        'RTX_4090.kernel_by_kernel([cost for name, cost in QWEN.decode_kernels(64, 2048).items() '
        'if name != "attention"] '
        '+ [attention(28, 4, 128, 1, 2048, b_kv=1) * (64 * QWEN.layers)]) * 1e3:.1f'
    ): '18.1',
    (
        'RTX_4090.kernel_by_kernel([cost for name, cost in QWEN.decode_kernels(256, 512).items() '
        'if name != "attention"] '
        '+ [attention(28, 4, 128, 1, 512, b_kv=1) * (256 * QWEN.layers)]) * 1e3:.1f'
    ): '25.7',
    (
        'RTX_4090.kernel_by_kernel([gemm(1, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [attention(28, 4, 128, 1, 2048, b_kv=1) * (1 * QWEN.layers), '
        'QWEN.decode_kernels(1, 2048)["lm_head"]]) * 1e3:.1f'
    ): '4.5',
    (
        'RTX_4090.kernel_by_kernel([gemm(64, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [attention(28, 4, 128, 1, 2048, b_kv=1) * (64 * QWEN.layers), '
        'QWEN.decode_kernels(64, 2048)["lm_head"]]) * 1e3:.1f'
    ): '9.9',
    (
        'RTX_4090.kernel_by_kernel([gemm(256, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [attention(28, 4, 128, 1, 512, b_kv=1) * (256 * QWEN.layers), '
        'QWEN.decode_kernels(256, 512)["lm_head"]]) * 1e3:.1f'
    ): '25.7',
    (
        'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 2048).values()) '
        '/ RTX_4090.kernel_by_kernel([gemm(1, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(1, 2048)["attention"], QWEN.decode_kernels(1, '
        '2048)["lm_head"]]):.1f'
    ): '3.1',
    (
        'RTX_4090.kernel_by_kernel([QWEN.decode_kernels(64, 2048)["attention"]]) '
        '/ RTX_4090.kernel_by_kernel([gemm(64, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(64, 2048)["attention"], QWEN.decode_kernels(64, '
        '2048)["lm_head"]]):.0%'
    ): '55%',
    (
        'RTX_4090.kernel_by_kernel([gemm(256, K, N, b_w=0.5 + 2/128) * QWEN.layers for K, '
        'N in QWEN.projections().values()] + [QWEN.decode_kernels(256, 512)["attention"], QWEN.decode_kernels(256, '
        '512)["lm_head"]]) / RTX_4090.kernel_by_kernel(QWEN.decode_kernels(256, 512).values()):.1%'
    ): '100.0%',
    (
        'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(256, 512).values()) '
        '/ RTX_4090.kernel_by_kernel([cost for name, cost in QWEN.decode_kernels(256, '
        '512).items() if name != "attention"] + [attention(28, 4, 128, 1, 512, b_kv=1) * (256 * QWEN.layers)]) '
        '- 1:.0%'
    ): '14%',
    'QWEN.decode_weights_and_kv(256, 512).intensity:.1f': '169.6',
    'ridge_point(989.4e12, 3.35e12) / RTX_4090.ridge():.2f': '1.80',
    'first_compute_bound(lambda M: gemm_intensity(M, 3584, 3584), ridge_point(989.4e12, 3.35e12))': '354',
    'first_compute_bound(lambda M: gemm_intensity(M, 3584, 512), ridge_point(989.4e12, 3.35e12))': '867',
    'first_compute_bound(lambda M: gemm_intensity(M, 3584, 18944), RTX_4090.ridge())': '174',
    'first_compute_bound(lambda M: gemm_intensity(M, 3584, 18944), ridge_point(989.4e12, 3.35e12))': '328',
    (
        'first_compute_bound(lambda S: attention(28, 4, 128, S, S, mask="causal").intensity, '
        'ridge_point(989.4e12, 3.35e12))'
    ): '675',
    'kernel_by_kernel(QWEN.decode_kernels(1, 2048).values(), 989.4e12, 3.35e12) * 1e3:.2f': '4.26',
    'published_speed("Qwen2.5-7B-Instruct", "BF16", 1):.2f': '84.28',
    'published_speed("Qwen2.5-7B-Instruct", "GPTQ-Int4", 1):.2f': '154.05',
    'published_speed("Qwen2.5-7B-Instruct", "AWQ", 1):.2f': '148.10',
    (
        'published_speed("Qwen2.5-7B-Instruct", "GPTQ-Int4", 1) '
        '/ published_speed("Qwen2.5-7B-Instruct", "BF16", 1):.2f'
    ): '1.83',
    'published_speed("Qwen2.5-7B-Instruct", "AWQ", 1) / published_speed("Qwen2.5-7B-Instruct", "BF16", 1):.2f': '1.76',
    (
        'published_speed("Qwen2.5-7B-Instruct", "GPTQ-Int4", 129024) '
        '/ published_speed("Qwen2.5-7B-Instruct", "BF16", 129024):.2f'
    ): '0.91',
    (
        'published_speed("Qwen2.5-7B-Instruct", "BF16", 1) * analyse(QWEN.decode_kernels(1, 1025), '
        'ACCELERATORS["a100-80gb-sxm"]).lower_bound:.0%'
    ): '59%',
    (
        'published_speed("Qwen2.5-7B-Instruct", "GPTQ-Int4", 1) * analyse(QWEN.decode_kernels(1, 1025, '
        'precision=Precision(weights=width_of("int4-g128-zero"))), '
        'ACCELERATORS["a100-80gb-sxm"]).lower_bound:.0%'
    ): '34%',
    (
        'analyse(QWEN.decode_kernels(1, 1025), ACCELERATORS["a100-80gb-sxm"]).lower_bound / '
        'analyse(QWEN.decode_kernels(1, 1025, precision=Precision(weights=width_of("int4-g128-zero"))), '
        'ACCELERATORS["a100-80gb-sxm"]).lower_bound:.1f'
    ): '3.1',
}
