"""What the primer on prefill and decode computes."""

CLAIMS = {
    '2 * QWEN.params / 1e9:.1f': '15.2',
    'QWEN.params_read():,': '7,070,619,136',
    '2 * QWEN.params_read() / 1e9:.1f': '14.1',
    'QWEN.decode_kernels(1, 8192)["attention"].flops / 1e9:.2f': '3.29',
    'QWEN.bytes_per_element': '2',
    'QWEN.weight_bytes() / 2**30:.1f': '14.2',
    '(RTX_4090.memory - QWEN.weight_bytes()) / 2**30:.1f': '9.8',
    'largest_context(QWEN, RTX_4090.memory):,': '183,558',
    '2 * QWEN.params * 128 / (QWEN.weight_bytes() + 128 * QWEN.kv_bytes_per_token):.1f': '127.9',
    '2 * QWEN.params / (QWEN.weight_bytes() + 128 * QWEN.kv_bytes_per_token):.2f': '1.00',
    'QWEN.decode_weights_and_kv(1, 128).intensity:.2f': '1.00',
    '2 * QWEN.params * 1024 / (QWEN.weight_bytes() + 1024 * QWEN.kv_bytes_per_token):.0f': '1020',
    '2 * QWEN.params / (QWEN.weight_bytes() + 1024 * QWEN.kv_bytes_per_token):.2f': '1.00',
    'QWEN.decode_weights_and_kv(1, 1024).intensity:.2f': '1.02',
    '2 * QWEN.params * 8192 / (QWEN.weight_bytes() + 8192 * QWEN.kv_bytes_per_token):.0f': '7947',
    '2 * QWEN.params / (QWEN.weight_bytes() + 8192 * QWEN.kv_bytes_per_token):.2f': '0.97',
    'QWEN.decode_weights_and_kv(1, 8192).intensity:.2f': '1.19',
    'first_compute_bound(lambda S: 2 * QWEN.params * S / (QWEN.weight_bytes() + S * QWEN.kv_bytes_per_token))': '166',
    (
        'sum([gemm(8192, K, N) * QWEN.layers for K, N in QWEN.projections(fused=True).values()] '
        '+ [attention(28, 4, 128, 8192, 8192, mask="causal") * QWEN.layers], start=gemm(1, 3584, '
        '152064)).intensity:.0f'
    ): '2217',
    (
        'first_compute_bound(lambda S: sum([gemm(S, K, N) * QWEN.layers for K, '
        'N in QWEN.projections(fused=True).values()] '
        '+ [attention(28, 4, 128, S, S, mask="causal") * QWEN.layers], start=gemm(1, 3584, 152064)).intensity)'
    ): '190',
    '2 * QWEN.params / 1e9:.2f': '15.23',
    'sum(cost.flops for name, cost in QWEN.decode_kernels(1, 8192).items() if name != "attention") / 1e9:.2f': '14.14',
    'QWEN.weight_bytes() / 1e9:.2f': '15.23',
    'QWEN.decode_weights_and_kv(1, 8192).traffic["weights"] / 1e9:.2f': '14.14',
    '8192 * QWEN.kv_bytes_per_token / 1e9:.2f': '0.47',
    'QWEN.decode_weights_and_kv(1, 8192).traffic["KV"] / 1e9:.2f': '0.47',
    '2 * QWEN.params / (QWEN.weight_bytes() + 8192 * QWEN.kv_bytes_per_token):.3f': '0.970',
    '2 * QWEN.params_read() / (QWEN.weight_bytes_read() + 8192 * QWEN.kv_bytes_per_token):.3f': '0.968',
    'attn_intensity(28, 4, "decode", 8192):.0f': '7',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 2048).values()) * 1e3:.1f': '14.2',
    '2 * QWEN.params * 2048 / RTX_4090.peak_of() * 1e3:.0f': '189',
    (
        'RTX_4090.kernel_by_kernel([gemm(2048, K, N) * QWEN.layers for K, N in QWEN.projections(fused=True).values()] '
        '+ [attention(28, 4, 128, 2048, 2048, mask="causal") * QWEN.layers, gemm(1, 3584, 152064)]) * 1e3:.0f'
    ): '168',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 512).values()) * 1e3:.1f': '14.1',
    '1 / RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 512).values()):,.0f': '71',
    'QWEN.decode_kernels(1, 512)["attention"].intensity:.1f': '6.9',
    '1 * 512 * QWEN.kv_bytes_per_token / 2**30:.2f': '0.03',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(8, 512).values()) * 1e3:.1f': '14.3',
    '8 / RTX_4090.kernel_by_kernel(QWEN.decode_kernels(8, 512).values()):,.0f': '559',
    'gemm_intensity(8, 3584, 3584):.1f': '8.0',
    'QWEN.decode_kernels(8, 512)["attention"].intensity:.1f': '6.9',
    '8 * 512 * QWEN.kv_bytes_per_token / 2**30:.2f': '0.22',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(32, 512).values()) * 1e3:.1f': '15.1',
    '32 / RTX_4090.kernel_by_kernel(QWEN.decode_kernels(32, 512).values()):,.0f': '2,113',
    'gemm_intensity(32, 3584, 3584):.1f': '31.4',
    'QWEN.decode_kernels(32, 512)["attention"].intensity:.1f': '6.9',
    '32 * 512 * QWEN.kv_bytes_per_token / 2**30:.2f': '0.88',
    'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(128, 512).values()) * 1e3:.1f': '18.5',
    '128 / RTX_4090.kernel_by_kernel(QWEN.decode_kernels(128, 512).values()):,.0f': '6,923',
    'gemm_intensity(128, 3584, 3584):.1f': '119.5',
    'QWEN.decode_kernels(128, 512)["attention"].intensity:.1f': '6.9',
    '128 * 512 * QWEN.kv_bytes_per_token / 2**30:.2f': '3.50',
    (
        'RTX_4090.kernel_by_kernel(QWEN.decode_kernels(128, 512).values()) '
        '/ RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 512).values()):.2f'
    ): '1.31',
    (
        '128 * RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 512).values()) '
        '/ RTX_4090.kernel_by_kernel(QWEN.decode_kernels(128, 512).values()):.0f'
    ): '97',
    'attn_intensity(28, 4, "decode", 512):.0f': '7',
    '7 + 512': '519',
    'gemm_intensity(7 + 512, 3584, 3584):.0f': '402',
    'QWEN.weight_bytes_read() / QWEN.kv_bytes_per_token:,.0f': '246,604',
    'QWEN.weight_bytes_read() / QWEN.kv_bytes_per_token / 2048:.0f': '120',
    (
        'kernel_by_kernel(QWEN.decode_kernels(1, 2048).values(), '
        '2 * RTX_4090.peak_of(), RTX_4090.bandwidth) * 1e3:.1f'
    ): '14.2',
    (
        'kernel_by_kernel([gemm(2048, K, N) * QWEN.layers for K, N in QWEN.projections(fused=True).values()] '
        '+ [attention(28, 4, 128, 2048, 2048, mask="causal") * QWEN.layers, gemm(1, 3584, 152064)], '
        '2 * RTX_4090.peak_of(), RTX_4090.bandwidth) * 1e3:.0f'
    ): '85',
    'analyse(QWEN.decode_kernels(1, 2048, fused=True), RTX_4090).lower_bound * 1e3:.2f': '14.15',
    '1 / analyse(QWEN.decode_kernels(1, 2048, fused=True), RTX_4090).lower_bound:.0f': '71',
    'analyse(QWEN.step([(2048, 2048)], fused=True), RTX_4090).lower_bound * 1e3:.0f': '167',
    'RTX_4090.kernel_by_kernel(QWEN.step([(2048, 2048)], fused=True).values()) * 1e3:.0f': '168',
}
