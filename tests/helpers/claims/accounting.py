"""What the page on accounting computes; each is worked out in test_accounting_page.py."""

CLAIMS = {
    'gemm(256, 3584, 18944).traffic["Y"] / 1e6:.1f': '9.7',
    'gemm(256, 3584, 512).traffic["X"] / 1e6:.1f': '1.8',
    'gemm(256, 3584, 512).flops / (gemm(256, 3584, 512).bytes - gemm(256, 3584, 512).traffic["X"]):.1f': '238.9',
    'quantised_width(4, group=128)': '0.515625',
    'window_attention(32, 8, 128, 1, 32768, 4096).intensity:.3f': '3.996',
    'window_attention(32, 8, 128, 2**40, 2**40, 4096).intensity:,.1f': '3,276.8',
    'attention(28, 4, 128, 32, 2048, traffic="kv-only").intensity:.0f': '224',
    'mla_attention(128, 512, 64, 1, 2048, traffic="kv-only").intensity:.1f': '241.8',
    'MODELS["deepseek-v3.2"].index.key_bytes': '132',
    'MODELS["deepseek-v3"].kv_bytes_per_token // MODELS["deepseek-v3"].layers': '1152',
    'index_scores(64, 128, 1, 131072, 2048).flops / mla_attention(128, 512, 64, 1, 131072).flops:.1%': '5.9%',
    '2048 / 131072:.1%': '1.6%',
    'gated_delta_rule(16, 32, 128, 128, 1, 4096).intensity:.2f': '0.75',
    'mamba2_scan(64, 64, 8, 128, 1, 4096).intensity:.2f': '0.50',
    'MODELS["qwen3-next-80b-a3b"].state_bytes() / 1e6:.1f': '39.5',
    'MODELS["qwen3-next-80b-a3b"].state_bytes() / MODELS["qwen3-next-80b-a3b"].kv_bytes_per_token:,.0f': '1,608',
    'experts_touched(128, 8, 1):.0f': '8',
    'experts_touched(128, 8, 32):.1f': '111.8',
    'experts_touched(128, 8, 32) / 128:.0%': '87%',
    '32 * 8 / 128:.0f': '2',
    'crossings(MODELS["qwen3-30b-a3b"], ACCELERATORS["h100-sxm"])["expert_gate_proj"]:,.0f': '5,850',
    'rms_norm(256, 3584).intensity:.3f': '0.998',
    'rope(256, 32, 128).intensity:.3f': '0.738',
    'swiglu(256, 18944).intensity:.3f': '0.667',
    'residual(256, 3584).intensity:.3f': '0.167',
    'MODELS["deepseek-v3"].kv_bytes_per_token:,': '70,272',
    'MODELS["qwen3-30b-a3b"].params / 1e9:.1f': '30.5',
    'MODELS["qwen3-30b-a3b"].params_read(1) / 1e9:.1f': '3.0',
    '", ".join(map(str, QWEN.valid_tp))': '1, 2, 4',
    '16 * MODELS["llama-3.1-8b"].card(16).kv_bytes_per_token / MODELS["llama-3.1-8b"].kv_bytes_per_token:.0f': '2',
    'mla_attention(128, 512, 64, 1, 1).flops / mla_expanded_attention(128, 128, 64, 128, 1, 1).flops:.1f': '3.4',
    '32 * 8192 * MODELS["gpt-oss-20b"].kv_bytes_per_token / 2**30:.2f': '12.00',
    'MODELS["gpt-oss-20b"].kv_bytes([8192] * 32) / 2**30:.2f': '6.09',
    (
        '1 - analyse(MODELS["qwen2.5-7b"].step([(2048, 2048)], fused=True), '
        'ACCELERATORS["rtx-4090"]).kernel_by_kernel / analyse(MODELS["qwen2.5-7b"].step([(2048, 2048)], '
        'fused=True, elementwise=True), ACCELERATORS["rtx-4090"]).kernel_by_kernel:.0%'
    ): '6%',
    (
        '1 - analyse(MODELS["qwen2.5-7b"].step([(2048, 2048)], fused=True), '
        'ACCELERATORS["h100-sxm"]).kernel_by_kernel / analyse(MODELS["qwen2.5-7b"].step([(2048, 2048)], '
        'fused=True, elementwise=True), ACCELERATORS["h100-sxm"]).kernel_by_kernel:.0%'
    ): '11%',
    (
        '1 - analyse(MODELS["qwen2.5-0.5b"].step([(2048, 2048)], fused=True), '
        'ACCELERATORS["rtx-4090"]).kernel_by_kernel / analyse(MODELS["qwen2.5-0.5b"].step([(2048, 2048)], '
        'fused=True, elementwise=True), ACCELERATORS["rtx-4090"]).kernel_by_kernel:.0%'
    ): '20%',
    (
        '1 - analyse(MODELS["qwen2.5-0.5b"].step([(2048, 2048)], fused=True), '
        'ACCELERATORS["h100-sxm"]).kernel_by_kernel / analyse(MODELS["qwen2.5-0.5b"].step([(2048, 2048)], '
        'fused=True, elementwise=True), ACCELERATORS["h100-sxm"]).kernel_by_kernel:.0%'
    ): '30%',
    'len(measurements())': '367',
    'min(row.fraction for row in measurements()):.2f': '0.03',
    'max(row.fraction for row in measurements()):.2f': '0.89',
    'measured("H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in").prompt:,': '131,072',
    'measured("H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in").least.lower_bound:.1f': '49.4',
    'measured("H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in").seconds:.1f': '55.5',
    'measured("H20: DeepSeek-V3.1 FP8, TP 8, PP 1, 131072 tokens in").least.lower_bound:.1f': '41.1',
    'measured("H20: DeepSeek-V3.1 FP8, TP 8, PP 1, 131072 tokens in").seconds:.1f': '48.5',
    'measured("4080 16GB: Llama 3 8B F16, pp 512").prompt': '512',
    'measured("4080 16GB: Llama 3 8B F16, pp 512").fraction_at("fp16"):.2f': '1.05',
    'measured("4080 16GB: Llama 3 8B F16, pp 512").fraction:.2f': '0.52',
    'measured("RTX 5000 Ada 32GB: Llama 3 8B F16, tg 512").fraction:.2f': '0.86',
    'measured("A100 PCIe 80GB: Llama 3 8B F16, tg 512").fraction:.2f': '0.43',
    'quantised_width(8, group=128 * 128, scale_bytes=4):.6f': '1.000244',
    'bytes_of("awq"):.6f': '0.519531',
    'bytes_of("nvfp4")': '0.5625',
    'bytes_of("mxfp4")': '0.53125',
    'quantised_width(4, group=64, scale_bytes=4)': '0.5625',
    'quantised_width(4, group=64, scale_bytes=quantised_width(8, group=256, scale_bytes=4)):.6f': '0.515869',
    'bytes_of("q4_0")': '0.5625',
    'bytes_of("q6_k"):.4f': '0.8203',
    'MODELS["qwen3-30b-a3b"].weight_bytes_read(1, Precision(modules={"experts": Stored(bytes_of("awq"))})) / 1e9:.2f':
        '3.40',
    'MODELS["qwen3-30b-a3b"].weight_bytes_read(1, Precision(modules={"layers": Stored(bytes_of("awq"))})) / 1e9:.2f':
        '2.06',
    '8 * stored_as("q4_k_m", MODELS["llama-3.1-8b"])["v_proj"].width:.3f': '5.531',
    '8 * stored_as("q4_k_m", MODELS["llama-3.1-8b"])["lm_head"].width:.4f': '6.5625',
    '", ".join(map(str, MODELS["deepseek-v3"].valid_tp))': '1, 2, 4, 8, 16',
    'MODELS["deepseek-v3"].intermediate / 32:.0f': '576',
    'all_reduce(275, 8).between_cards:.0f': '481',
    'ACCELERATORS["h100-sxm"].link / 1e9:.0f': '450',
    'exchange_bound(MODELS["llama-3.1-70b"].card(8).exchanges(64).values(), ACCELERATORS["h100-sxm"].link) * 1e3:.2f':
        '0.37',
    'analyse(MODELS["llama-3.1-70b"].card(8).decode_kernels(64, 2048, fused=True), ACCELERATORS["h100-sxm"])'
    '.lower_bound * 1e3:.2f': '6.79',
    'exchange_bound(QWEN.card(4).exchanges(2048).values(), RTX_4090.link) * 1e3:.0f': '26',
    'analyse(QWEN.card(4).step([(2048, 2048)], fused=True), RTX_4090).lower_bound * 1e3:.0f': '42',
    'MODELS["deepseek-v3"].weight_bytes() / 1e9:.0f': '673',
    'MODELS["deepseek-v3"].card(1, ep=32).weight_bytes() / 1e9:.1f': '39.5',
    'cards_touched(256, 8, 32):.1f': '7.3',
    'exchange_bound(MODELS["deepseek-v3"].card(1, ep=128).exchanges(128).values(), ACCELERATORS["h800-sxm"].link)'
    ' * 1e3:.1f': '4.4',
    'analyse(MODELS["deepseek-v3"].card(1, ep=128).decode_kernels(128, 4096, fused=True), ACCELERATORS["h800-sxm"])'
    '.lower_bound * 1e3:.1f': '17.7',
    '128 / (18598 / 8) * 1e3:.0f': '55',
}
