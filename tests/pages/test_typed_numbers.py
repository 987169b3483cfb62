"""No digit of a computed result is typed in a page: what remains is named here, with the reason."""

import re

import expressions
import pages
import pytest
from support import LANGUAGES, PAGES

# (pattern, why it may be typed)
ALLOWED = [
    (r"Llama 4|Llama（到 4|Llama up to 4|Qwen2 (?:to|到) 3\.6|Gemma 1 (?:to|到) 4|\b3n\b", "architectures' names"),
    (r"Phi-3\.5-MoE|Phi-[34]|DeepSeek-V2 (?:to|到) V3\.2|Kimi K2(?:/| and )K2\.5|GLM-4 (?:to|到) 5", "the same"),
    (r"MiniMax-M2|Nemotron-H(?:/| and )3|Granite 3(?:/| and )4|SmolLM3|OLMo 2(?:/| and )3|InternLM2", "the same"),
    (r"RTX (?:4080|5000 Ada|A6000)|\bH20\b|GB[23]00", "a card's name"),
    (r"Qwen3-235B-A22B|DeepSeek-V3\.1|Llama [23]\b|Qwen2\.5 with vLLM|vLLM 跑 Qwen2\.5", "a model's name"),
    (r"到 1(?=。| 还差)|reaches 1\b|missing to 1\b", "a bound that is reached: one, by definition"),
    (r"May 2024|2024 年 5 月", "when it was measured"),
    (r"DeepSeek-V3\.2|GLM-5|Qwen3(?:-Next(?:-80B-A3B)?|\.5)|Nemotron 3|Granite 4|Mamba-2|Gemma 4 E4B", "the same"),
    (r"(?:best|最高的|more than|不超过) 2048|2412\.06464|2405\.21060", "an input: tokens that an index picks; papers"),
    (r"Qwen2\.5-7B|Qwen3-30B-A3B|DeepSeek-V3|Llama-3\.1-(?:8|70)B", "a model's name"),
    (r"128 × 128 分块|128 的倍数|blocks of 128 × 128|multiple of 128 outputs|of 128 inputs", "a format's layout"),
    (r"[Nn]ot over 32|切不成 32 张|32 张卡|32 cards", "an input: cards"),
    (r"275 GB\b|八张 H100|eight H100", "measured: NVIDIA/nccl-tests, issue 212"),
    (r"64 条|64 sequences|128 张 H800|128 H800|每张 128 条|With 128 sequences|4096 (?:个 token|tokens)", "an input"),
    (r"（Patarasuk 与 Yuan，2009）|\(Patarasuk and Yuan, 2009\)", "a publication"),
    (r"RTX 4090|\b4090\b|H100|H200|A100|SM89", "a card's name"),
    (r"vLLM 0\.26\.0|v0\.26\.0|vLLM 0\.6\.3|FlashAttention 2|(?:白皮书|whitepaper) v2\.1", "a version"),
    (r"\b(?:BF|FP|INT|int)\d+\b|W4A16|W8A8|\bW4\b|GPTQ-Int4", "a data type"),
    (r"(?:MX|NV)FP4|\bNF4\b|W4A4|\bQ\d_(?:K_M|K|0)|16 bits|16 位", "a data type"),
    (r"(?:groups of|每) (?:64|128)(?= 个一组| with)|(?:per|每) 128 × 128|MLX, 4 bits|MLX 4 位", "a format's layout"),
    (r"2:4 (?:结构化稀疏|structured sparsity)", "a sparsity's name"),
    (r"\bL[12]\b|GDDR6X", "a memory"),
    (r"AVX512", "an instruction set"),
    (r"24 GB", "memory of the card, NVIDIA Ada whitepaper"),
    (r"\b330\b|660\.6|82\.6", "peaks in circulation that are not dense BF16, NVIDIA Ada whitepaper: quoted as wrong"),
    (
        r"每个 SM (?:256|128) KiB|(?:256|128) KiB per SM|(?:128|132) 个 SM\b|(?:128|132) SMs",
        "multiprocessors of a card and their memories, NVIDIA Ada and Hopper whitepapers",
    ),
    (r"989\.4 TFLOP/s|\b1979\b", "peaks of the H100 and H200, dense and sparse BF16, NVIDIA datasheets"),
    (r"(?:3\.35 (?:升到|to) )?4\.8 TB/s|3\.35 TB/s", "bandwidths of the H100 and H200, NVIDIA datasheets"),
    (r"\b1 TB/s", "the bandwidth as the lesson rounds it"),
    (r"CACM 52\(4\), 2009|2022|arXiv:2205\.14135", "a publication"),
    (r"^\#+ \d{1,2}(?:\.\d)?\.? ", "a section's number"),
    (r"第 ?[45] ?节|section [45]|3\.[123] ?节|of 3\.[12]|section 3\.3", "a section's number in a reference"),
    (r"\b[WETkt] ?= ?\d+", "an input: window, experts, tokens, experts per token, cards"),
    (r"退出状态是 2|exit status 2", "the command line's contract"),
    (r"batch 从 1 到 128|batch 1 to 128|batch (?:64|256)\b", "an input"),
    (r"12 µs", "an input: what somebody measured"),
    (r"(?:按|tiles of) 128 × 128", "an input, the tile"),
    (r"第八条(?:送来|出) 512 个|brings 512 tokens|single tokens and 512:", "an input, the chunk of a prompt"),
    (r"3584 → (?:3584|512|18944)", "an input, the widths of a layer"),
    (r"\b(?:M|S|B|L|batch|r) ?(?:=|为|of) ?\d+|N = 128|M 从 1 拧到 256|batch 从 1|batch 1\b", "an input"),
    (r"^\|? ?(?:128|1024|2048|8192|32768) \|", "an input, the context (or batch) in a table's first column"),
    (r"^\| (?:1|7|8|32) \|", "an input, the intensity or the batch in a table's first column"),
    (r"128 个(?:专家|权重)|128 (?:experts|weights)", "an input"),
    (r"^\d+\. ", "a list's number"),
    (r"1 GiB", "a unit"),
    (r"约 6 MB|about 6 MB", "the size of Python for the browser: measured in test_run.py"),
    (r"都不到 1，|stays below 1 at any", "element-wise operators, a bound: proved in test_lesson_page.py"),
    (r"略低于 1，|just below 1,", "the limit 2/b at M = 1, a bound: proved in test_interview_page.py"),
    (r"最多 2%|up to 2%", "how far a crossing moves with the ridge, a bound: proved in test_lesson_page.py"),
    (r"129,024", "an input, the prompt of a published measurement"),
    (r"显存的 0\.92|0\.92 of the card", "vLLM's default share of the memory, config/cache.py"),
    (r"GPT-OSS-20B|Qwen2\.5-0\.5B", "a model's name"),
    (r"32 条各 8192 个 token|32 sequences of 8192 tokens|2048 个|2048 tokens", "an input"),
    (r"(?:约为|约|达到|都是|强度是|都钉在) ?[17]\b", "the two intensities"),
    (r"线性层 1、attention 7|attention (?:还)?是 7|权重的 1", "the two intensities"),
    (r"about [17]\b|at [17]\b|intensity (?:is |of )?(?:about )?1\b", "the same in English"),
    (r"rows of 7|weights' 1|from 1 into", "the same in English"),
    (r"I ≈ [17]", "the same, as a profile shows it"),
    (r"profile 里的 7 和 1|A 7 and a 1 in one profile", "the same, in a heading"),
    (r"强度也低于 1|stays below 1\.", "the limit 2/b at M = 1, a bound: proved in test_interview_page.py"),
    (r"降不到 1%|less than 1%", "a bound: proved in test_interview_page.py"),
    (r"平均应该是 4\b|average should be 4\b", "quoted as wrong"),
    (r"\b2N FLOPs", "the name of an estimate"),
    (r"离 1 越远|further from 1", "a ratio of one: as predicted"),
    (r"（1 ?，|是 2）|: 2\)|decode 是 1|1 in decode|b = 2|2 FLOPs|仍是 2 字节|still 2\b", "the definition of a unit"),
]
COEFFICIENTS = re.compile(r"(?<![\d.])(?:[1234678]|256|3584|2048|10\^\{\d+\})(?![\d.])")


def prose(language: str, page: str) -> str:
    """The page without what is not typed prose: code, expressions, links' targets, tags, attributes."""
    text = pages.source(language, page)
    for pattern in (
        r"^[ ]*```.*?^[ ]*```$", r"^:::[ ]\w+$",
        r"`[^`]*`", r"\{\{.*?\}\}", r"\]\([^)]*\)", r"\{ ?[#.][^}]*\}", r"<[^>]*>",
    ):
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL)
    # In a formula, its own coefficients and inputs; results are expressions there too.
    return re.sub(r"\\\[.*?\\\]|\\\(.*?\\\)", lambda maths: COEFFICIENTS.sub(" ", maths[0]), text, flags=re.DOTALL)


def typed_numbers(language: str, page: str) -> list[str]:
    text = prose(language, page)
    for pattern, _ in ALLOWED:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE)
    return [text[max(0, n.start() - 30) : n.end() + 20].strip() for n in re.finditer(r"\d[\d.,]*", text)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_no_computed_number_is_typed(language, page):
    assert typed_numbers(language, page) == [], "make it an expression, {{ … }}, or allow it above with its reason"


def test_a_typed_result_is_seen(monkeypatch):
    monkeypatch.setattr(pages, "source", lambda *_: r"k_proj has an intensity of 162.9, and \(I = 224\).")
    assert len(typed_numbers("en", "lesson.md")) == 2


def test_expressions_are_found_where_the_build_finds_them():
    assert expressions.TOKEN.flags & re.DOTALL
    assert pages.fields("en", "lesson.md").count("RIDGE") > 5
