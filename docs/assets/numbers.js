// Numbers as people type them, and as the pages show them.

// What may stand before a number and after it without making it another: "I* ≈", "about", "左右".
const WORDS = "至少|at least|约等于|约为|大约|大概|约|等于|about|approximately|approx\\.?|circa|ca\\.?|around|roughly";
const ABOUT = new RegExp(`^(?:[a-z]\\*? ?(?=[=≈≥]|>=)|[=≈≃≅≒∼~≥:]|>=|${WORDS})\\s*`, "i");
const OR_SO = /\s*(?:左右|or so|[。.])$/i;
const DIGITS = "\\d{1,3}(?:[ '_]\\d{3})+(?:[.,]\\d+)?(?!\\d)|[\\d.,]*\\d[\\d.,]*";
const FACTOR = `(${DIGITS})(?:\\s?e([+-]?\\d+))?(?:\\s?(?:\\^|\\*\\*)\\s?[({]?([+-]?\\d+)[)}]?)?`;
const SIGN = "\\s?([×x*·⋅/÷])\\s?";
const QUANTITY = new RegExp(`^([+-]?)\\s?(${FACTOR}(?:${SIGN}${FACTOR})*)(\\D*)$`, "i");

// In plain characters and without what only says that it is about so much.
function plain(text) {
  let rest = text
    .replace(/[⁰¹²³⁴-⁹⁺⁻]+/g, "^$&") // or 10³ would be 103
    .replace(/[¼-¾⅐-⅞]/g, " $&") // and 2½ would be 21/2
    .normalize("NFKC")
    .replace(/−/g, "-")
    .replace(/⁄/g, "/")
    .replace(/’/g, "'")
    .replace(/\s+/g, " ")
    .trim();
  for (const around of [ABOUT, ABOUT, ABOUT, OR_SO, OR_SO]) rest = rest.replace(around, "");
  return rest;
}

// "7.0", "７,0", "≈ 1,024", "989.4/3.35", "3.5×10^3 FLOP/byte": { value, unit }; null for anything else. "1,024" may
// also be meant as a decimal: that reading is in `else`.
export function read(text) {
  const parts = QUANTITY.exec(plain(text));
  if (!parts) return null;
  const [, minus, product] = parts;
  const factors = [...product.matchAll(new RegExp(`(?:${SIGN})?(?:${FACTOR})`, "gi"))];
  const value = (withPoint) =>
    factors.reduce(
      (sofar, [, sign, digits, exponent = "0", power = "1"]) => {
        const factor = Number(`${withPoint(digits)}e${exponent}`) ** Number(power);
        return "/÷".includes(sign ?? "×") ? sofar / factor : sofar * factor;
      },
      Number(`${minus}1`),
    );
  const found = { value: value(pointed), else: value(decimal), unit: parts.at(-1).trim() };
  return Number.isFinite(found.value) ? found : null;
}

// Whether a text that cannot be read holds more than one number, such as a range.
export function severalIn(text) {
  return plain(text).match(/\d[\d.,]*/g)?.length > 1;
}

function decimal(digits) {
  return pointed(digits.replace(/^([^,.]*),([^,.]*)$/, "$1.$2"));
}

// Of two kinds of separator the last one is the decimal; a lone comma is, unless it parts thousands. NaN is neither.
function pointed(digits) {
  const grouped = digits.replace(/[ '_]/g, "");
  if (grouped !== digits) return grouped.replace(",", ".");
  const [commas, points] = [",", "."].map((mark) => digits.split(mark).length - 1);
  const thousands = (mark) => new RegExp(`^[1-9]\\d{0,2}(\\${mark}\\d{3})+$`);
  if (commas && points) {
    const [group, point] = digits.lastIndexOf(".") > digits.lastIndexOf(",") ? [",", "."] : [".", ","];
    const [whole, fraction, more] = digits.split(point);
    return more === undefined && thousands(group).test(whole) ? `${whole.replaceAll(group, "")}.${fraction}` : NaN;
  }
  if (thousands(",").test(digits)) return digits.replaceAll(",", "");
  if (points > 1) return thousands(".").test(digits) ? digits.replaceAll(".", "") : NaN;
  return commas <= 1 ? digits.replace(",", ".") : NaN;
}

// So many significant digits, thousands apart; whole numbers in full.
export function significant(value, digits = 4) {
  if (Math.abs(value) >= 1e21) return value.toExponential(digits - 1);
  const decimals = Number.isInteger(value) ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  const [whole, fraction] = value.toFixed(Math.min(decimals, 100)).split("."); // toLocaleString takes far longer
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
}

// A quantity with the prefix that suits it: 15231233024, "B" is "15.23 GB".
export function scaled(value, unit) {
  const power = Math.min(Math.max(Math.floor(Math.log10(value) / 3), -3), 6);
  return `${significant(Number((value / 1000 ** power).toPrecision(4)))} ${"nµm kMGTPE"[power + 3].trim()}${unit}`;
}
