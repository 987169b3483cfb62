"""What the primer on the roofline model computes."""

CLAIMS = {
    'gemm(1, 3584, 3584).flops / 1e6:.1f': '25.7',
    'gemm(1, 3584, 3584).bytes / 1e6:.1f': '25.7',
    'gemm(1, 3584, 3584).flops / RTX_4090.peak_of() * 1e6:.2f': '0.16',
    'gemm(1, 3584, 3584).bytes / RTX_4090.bandwidth * 1e6:.1f': '25.5',
    '128 * 256 // 1024': '32',
    '128 * 128 // 1024': '16',
    'QWEN.weight_bytes_read() / 2**30:.1f': '13.2',
    'RTX_4090.attainable(1) / 1e12:.2f': '1.01',
    'RTX_4090.attainable(1) / RTX_4090.peak_of():.1%': '0.6%',
    'RTX_4090.attainable(7) / 1e12:.2f': '7.06',
    'RTX_4090.attainable(7) / RTX_4090.peak_of():.1%': '4.3%',
    '(256 // 128) * (3584 // 128)': '56',
    '(256 // 128) * (3584 // 128) / 128:.0%': '44%',
    '1 / (2 * 2 + 2):.3f': '0.167',
    'RTX_4090.attainable(1 / 6) / 1e9:.0f': '168',
    'RTX_4090.attainable(1 / 6) / RTX_4090.peak_of():.2%': '0.10%',
    'gemm(1, 3584, 3584).bytes / 12e-6 / 1e9:,.0f': '2,142',
    'ridge_point(989.4e12, 4.8e12):.1f': '206.1',
    (
        'attainable(gemm_intensity(1, 3584, 3584), 989.4e12, 4.8e12) '
        '/ attainable(gemm_intensity(1, 3584, 3584), 989.4e12, 3.35e12):.2f'
    ): '1.43',
    (
        'attainable(gemm_intensity(256, 3584, 3584), 989.4e12, 4.8e12) '
        '/ attainable(gemm_intensity(256, 3584, 3584), 989.4e12, 3.35e12):.2f'
    ): '1.32',
    'RTX_4090.ridge("fp8acc"):.0f': '655',
    'RTX_4090.ridge("fp16acc"):.0f': '328',
    'RTX_4090.ridge("fp32"):.0f': '82',
    'RTX_4090.peak_of("fp8acc") / 1e12:.1f': '660.6',
    'RTX_4090.peak_of("fp16acc") / 1e12:.1f': '330.3',
    'RTX_4090.peak_of("fp32") / 1e12:.1f': '82.6',
}
