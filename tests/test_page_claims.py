"""Every number that a page computes, against a value worked out elsewhere and typed here by hand.

The values come from exact rational arithmetic (oracles.json), from spec sheets and config files, or from the longhand
sums at the end of this module. A page may not show an expression that is not claimed here.
"""

import pages
import pytest
from conftest import LANGUAGES, PAGES
from evaluate import evaluate

CLAIMS = dict([
    ('attn_intensity(28, 4, "decode", 2048):.0f', '7'),
    ('QWEN.hidden', '3584'),
    ('QWEN.n_q * QWEN.head_dim', '3584'),
    ('QWEN.n_kv * QWEN.head_dim', '512'),
    ('QWEN.n_q', '28'),
    ('QWEN.n_kv', '4'),
    ('QWEN.head_dim', '128'),
    ('QWEN.intermediate', '18944'),
    ('QWEN.layers', '28'),
    ('RTX_4090.peak_of("bf16") / 1e12:.1f', '165.2'),
    ('RTX_4090.ridge():.1f', '163.9'),
    ('gemm_intensity(1, 3584, 3584):.1f', '1.0'),
    ('attention(28, 4, 128, 1, 2048).intensity:.1f', '7.0'),
    ('gemm_intensity(256, 3584, 512):.1f', '162.9'),
    ('gemm_intensity(256, 3584, 3584):.0f', '224'),
    ('attention(28, 4, 128, 2048, 2048, mask="causal").intensity:.0f', '896'),
    ('RTX_4090.bandwidth / 1e9:.0f', '1008'),
    ('RTX_4090.ridge():.3f', '163.889'),
    ('RIDGE', '165'),
    ('gemm_intensity(1, 3584, 3584):.4f', '0.9994'),
    ('gemm_intensity(1, 3584, 512):.4f', '0.9978'),
    ('gemm_limit(3584, 3584):,.0f', '1,792'),
    ('gemm_limit(3584, 512):.0f', '448'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 3584), RTX_4090.ridge())', '181'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 512), RTX_4090.ridge())', '259'),
    ('gemm_limit(3584, 128):.0f', '124'),
    ('gemm_crossing(3584, 3584, RIDGE):.1f', '181.7'),
    ('gemm_crossing(3584, 18944, RIDGE):.1f', '174.6'),
    ('gemm_crossing(3584, 512, RIDGE):.1f', '261.2'),
    ('attn_intensity(28, 28, "decode", 2048):.0f', '1'),
    ('QWEN.n_q // QWEN.n_kv', '7'),
    ('attn_intensity(28, 4, "decode", 2048) / attn_intensity(28, 28, "decode", 2048):.0f', '7'),
    ('QWEN.kv_bytes_per_token * QWEN.n_q / QWEN.n_kv / 1024:.0f', '392'),
    ('QWEN.kv_bytes_per_token / 1024:.0f', '56'),
    ('attn_intensity(28, 4, "prefill", 1):.0f', '7'),
    ('first_compute_bound(lambda S: attn_intensity(28, 4, "prefill", S))', '24'),
    ('attn_intensity(28, 4, "decode", 2048):.1f', '7.0'),
    ('attention(28, 4, 128, 1, 2048).intensity:.3f', '6.976'),
    ('attention(28, 4, 128, 1, 2048, mask="causal").intensity:.3f', '6.976'),
    ('attn_intensity(28, 4, "prefill", 128):.0f', '896'),
    ('attention(28, 4, 128, 128, 128).intensity:.0f', '112'),
    ('attention(28, 4, 128, 128, 128, mask="causal").intensity:.1f', '56.4'),
    ('attn_intensity(28, 4, "prefill", 2048):,.0f', '14,336'),
    ('attention(28, 4, 128, 2048, 2048).intensity:,.0f', '1,792'),
    ('first_compute_bound(lambda S: attention(28, 4, 128, S, S).intensity)', '189'),
    ('first_compute_bound(lambda S: attention(28, 4, 128, S, S, mask="causal").intensity)', '377'),
    ('attn_intensity(28, 4, "prefill", 2048) / attn_intensity(28, 28, "prefill", 2048):.0f', '7'),
    ('attention(28, 4, 128, 2048, 2048).intensity / attention(28, 28, 128, 2048, 2048).intensity:.2f', '1.75'),
    ('attention(28, 4, 128, 2048, 2048, mask="causal").intensity / attention(28, 28, 128, 2048, 2048, mask="causal").intensity:.2f', '1.75'),
    ('attn_intensity(28, 4, "prefill", 2048) / attention(28, 4, 128, 2048, 2048).intensity:.0f', '8'),
    ('first_compute_bound(lambda S: attention(28, 4, 128, S, S).intensity, RTX_4090.ridge())', '188'),
    ('first_compute_bound(lambda S: attention(28, 4, 128, S, S, mask="causal").intensity, RTX_4090.ridge())', '374'),
    ('attention(28, 4, 128, 2**40, 2**40, passes=1).intensity:.0f', '256'),
    ('first_compute_bound(lambda S: attention(28, 4, 128, S, S, passes=1).intensity)', '531'),
    ('attention(28, 4, 128, 2**40, 2**40, passes=4).intensity:.0f', '64'),
    ('attention(28, 4, 128, 2**40, 2**40, passes=4, b_score=4).intensity:.0f', '32'),
    ('first_compute_bound(lambda S: attn_intensity(28, 4, "prefill", S), RTX_4090.ridge())', '24'),
    ('attention(28, 4, 128, 512, 512, passes=1).traffic["scores"] / 1e6:.1f', '14.7'),
    ('RTX_4090.last_level_cache / 2**20:.0f', '72'),
    ('attention(28, 4, 128, 1024, 1024, passes=1).traffic["scores"] / 1e6:.1f', '58.7'),
    ('attention(28, 4, 128, 2048, 2048, passes=1).traffic["scores"] / 1e6:.1f', '234.9'),
    ('QWEN.weight_bytes / 2**30:.3f', '14.185'),
    ('QWEN.params:,', '7,615,616,512'),
    ('QWEN.weight_bytes_read / 2**30:.3f', '13.170'),
    ('QWEN.kv_bytes_per_token:,', '57,344'),
    ('2**30 / QWEN.kv_bytes_per_token:,.0f', '18,725'),
    ('QWEN.decode_weights_and_kv(1, 2048).intensity:.3f', '1.049'),
    ('QWEN.decode_weights_and_kv(32, 2048).intensity:.2f', '26.75'),
    ('QWEN.decode_weights_and_kv(1, 8192).intensity:.3f', '1.193'),
    ('QWEN.decode_weights_and_kv(32, 8192).intensity:.2f', '19.12'),
    ('QWEN.decode_weights_and_kv(1, 32768).intensity:.3f', '1.704'),
    ('QWEN.decode_weights_and_kv(32, 32768).intensity:.2f', '11.76'),
    ('QWEN.decode_weights_and_kv(256, 512).intensity:.0f', '170'),
    ('RTX_4090.time_floor([QWEN.decode_weights_and_kv(256, 512)]) * 1e3:.1f', '22.2'),
    ('RTX_4090.time_floor(QWEN.decode_step(256, 512).values()) * 1e3:.1f', '29.5'),
    ('RTX_4090.time_floor(QWEN.decode_step(256, 512).values()) / RTX_4090.time_floor([QWEN.decode_weights_and_kv(256, 512)]) - 1:.0%', '33%'),
    ('RTX_4090.time_floor([QWEN.decode_step(256, 512)["attention"]]) * 1e3:.1f', '7.6'),
    ('next(S for S in range(1, 4096) if QWEN.decode_weights_and_kv(2**60, S).intensity < RIDGE)', '1561'),
    ('QWEN.decode_weights_and_kv(2**60, 2048).intensity:.1f', '127.4'),
    ('1 - gemm_intensity(256, 3584, 512) / RIDGE:.1%', '1.3%'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 512))', '262'),
    ('max(N for N in range(1, 1024) if gemm_crossing(3584, N, RIDGE) is None)', '172'),
    ('gemm_limit(3584, 16):.1f', '15.9'),
    ('gemm_limit(3584, 128):.1f', '123.6'),
    ('QWEN.projections(fused=True)["qkv_proj"][1]', '4608'),
    ('gemm_intensity(256, 3584, 4608):.2f', '227.15'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 4608))', '180'),
    ('gemm_intensity(256, 3584, 3584):.2f', '224.00'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 3584))', '182'),
    ('QWEN.projections(fused=True)["gate_up_proj"][1]', '37888'),
    ('gemm_intensity(256, 3584, 37888):.2f', '237.44'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 37888))', '174'),
    ('gemm_intensity(256, 18944, 3584):.2f', '235.96'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 18944, 3584))', '175'),
    ('QWEN.vocab', '152064'),
    ('gemm_intensity(256, 3584, 152064):.2f', '238.56'),
    ('first_compute_bound(lambda M: gemm_intensity(M, 3584, 152064))', '174'),
    ('(gemm(256, 3584, 3584) + gemm(256, 3584, 512) * 2).intensity:.1f', '206.8'),
    ('QWEN.hidden * QWEN.vocab / QWEN.params_read:.1%', '7.7%'),
    ('gemm(1, 3584, 3584).traffic["W"] / 1e6:.1f', '25.7'),
    ('QWEN.decode_weights_and_kv(1, 2048).traffic["KV"] / QWEN.decode_weights_and_kv(1, 2048).bytes:.1%', '0.8%'),
    ('gemm_crossing(3584, 3584, RIDGE, b_w=0.5):.1f', '45.4'),
    ('gemm_crossing(3584, 512, RIDGE, b_w=0.5):.1f', '65.3'),
    ('gemm_crossing(3584, 18944, RIDGE, b_w=0.5):.1f', '43.6'),
    ('gemm_crossing(3584, 3584, RIDGE, b_w=0.5 + 2/128):.1f', '46.9'),
    ('gemm_crossing(3584, 512, RIDGE, b_w=0.5 + 2/128):.1f', '67.3'),
    ('gemm_crossing(3584, 18944, RIDGE, b_w=0.5 + 2/128):.1f', '45.0'),
    ('RTX_4090.ridge():.0f', '164'),
    ('gemm_intensity(1, 3584, 3584):.0f', '1'),
    ('gemm_intensity(256, 3584, 512):.0f', '163'),
    ('RTX_4090.time_floor([gemm(1, 3584, 3584)]) * 1e6:.1f', '25.5'),
])


@pytest.mark.parametrize("field", CLAIMS)
def test_claim(field):
    assert evaluate(field).get("text") == CLAIMS[field]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_no_number_without_a_claim(language, page):
    unclaimed = [field for field in pages.fields(language, page) if field not in CLAIMS]
    assert unclaimed == [], "work each value out by other means and add it to CLAIMS"


def test_no_claim_outlives_its_page():
    shown = {field for page in PAGES for field in pages.fields("zh", page)}
    assert [field for field in CLAIMS if field not in shown] == []
