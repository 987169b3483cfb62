// Units as people write them: "flops per byte", "FLOP/字节", "毫秒". Case says nothing: nobody means a millibyte.

const LARGE = prefixes(
  "1e3 k kilo 千; 1e6 m mega 兆; 1e9 g giga 吉; 1e12 t tera 太; 1e15 p peta; 1e4 万; 1e8 亿; " +
    "1024 ki kibi; 1048576 mi mebi; 1073741824 gi gibi; 1099511627776 ti tebi",
);
const SMALL = prefixes("1e-3 m milli 毫; 1e-6 u μ micro 微; 1e-9 n nano 纳");
// What is measured; the names of its unit, the longer first; their size and their prefixes.
const UNITS = [
  ["flop", ["flops", "flop", "ops", "op", "次浮点运算", "浮点运算", "次运算", "次"], 1, LARGE],
  ["byte", ["bytes", "byte", "字节", "b"], 1, LARGE],
  ["byte", ["bits", "bit", "比特"], 1 / 8, LARGE],
  ["s", ["seconds", "second", "sec", "秒", "s"], 1, SMALL],
  ["token", ["tokens", "token", "tok", "rows", "row", "词元", "行", "个"], 1, LARGE],
  ["", ["percent", "%"], 0.01, prefixes("")],
];

function prefixes(table) {
  const lines = table.split("; ").map((line) => line.split(" "));
  return new Map([["", 1], ...lines.flatMap(([size, ...names]) => names.map((name) => [name, Number(size)]))]);
}

// { kind, size } of "GFLOP" or "FLOP/byte"; undefined for what is no unit.
function unit(text) {
  const parts = text
    .toLowerCase()
    .split(/\/|\bper\b|每/)
    .map((part) => simple(part.replace(/\s/g, "").replace(/^个(?=.)/, "")));
  if (!parts.every(Boolean)) return undefined;
  const [above, ...below] = parts;
  return {
    kind: parts.map(({ kind }) => kind).join("/"),
    size: below.reduce((size, part) => size / part.size, above.size),
  };
}

function simple(text) {
  if (!text) return { kind: "", size: 1 };
  for (const [kind, names, size, larger] of UNITS)
    for (const name of names) {
      const prefix = text.slice(0, -name.length);
      if (text.endsWith(name) && larger.has(prefix)) return { kind, size: size * larger.get(prefix) };
    }
  return undefined;
}

// How many `to` one `from` is; undefined where they measure different things.
export function ratio(from, to) {
  const [one, other] = [from, to].map((text) => unit(text.normalize("NFKC")));
  return one && one.kind === other?.kind ? one.size / other.size : undefined;
}

// KB of 1000 bytes for KiB of 1024, and the other way round.
export function otherKilo(text) {
  return text.replace(/^([kmgtp])(i?)(?=b)/i, (_, prefix, i) => (i ? prefix : `${prefix}i`));
}
