// Numbers as people type them, and as the pages show them.

// "7.0", "7,0", "７.０", "1,024", "7 FLOP/byte", "1e3": { value, unit }; null for anything else. "1,024" may also be
// meant as a decimal: that reading is in `else`.
export function read(text) {
  const plain = text.normalize("NFKC").replace(/[\s_]/g, "").replace(/−/g, "-");
  const parts = /^([+-]?)([\d.,]*\d[\d.,]*)(?:e([+-]?\d+))?(\D.*)?$/i.exec(plain);
  if (!parts) return null;
  const [, sign, digits, exponent = "0", unit = ""] = parts;
  const number = withPoint(digits);
  if (number === null) return null;
  const value = (plainDigits) => Number(`${sign}${plainDigits}e${exponent}`);
  return { value: value(number), else: value(digits.replace(",", ".")), unit };
}

// Of two kinds of separator the last one is the decimal; a lone comma is, unless it parts thousands.
function withPoint(digits) {
  const commas = digits.split(",").length - 1;
  const points = digits.split(".").length - 1;
  const thousands = (mark) => new RegExp(`^[1-9]\\d{0,2}(\\${mark}\\d{3})+$`);
  if (commas && points) {
    const [group, point] = digits.lastIndexOf(".") > digits.lastIndexOf(",") ? [",", "."] : [".", ","];
    const [whole, fraction, more] = digits.split(point);
    return more === undefined && thousands(group).test(whole) ? `${whole.replaceAll(group, "")}.${fraction}` : null;
  }
  if (commas) {
    if (thousands(",").test(digits)) return digits.replaceAll(",", "");
    return commas === 1 ? digits.replace(",", ".") : null;
  }
  return points <= 1 ? digits : null;
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
