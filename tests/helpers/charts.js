/* A chart as the page shows it, measured: run in Chromium with the SVG's text, its width in CSS pixels and the grid's colour. */
([source, shown, grid]) => {
  document.body.innerHTML = `<div style="width: ${shown}px">${source}</div>`;
  const svg = document.querySelector("svg");
  Object.assign(svg.style, { display: "block", width: "100%", height: "auto" });
  const place = (matrix, x, y) => {
    const point = new DOMPoint(x, y).matrixTransform(matrix);
    return [point.x, point.y];
  };
  const corners = ({ x, y, width, height }, matrix = new DOMMatrix()) =>
    [[x, y], [x + width, y], [x + width, y + height], [x, y + height]].map((corner) => place(matrix, ...corner));
  const seen = (selector) => [...svg.querySelectorAll(selector)].filter((element) => !element.closest("defs"));
  const texts = seen("text").map((text) => ({
    words: text.textContent,
    corners: corners(text.getBBox(), text.getScreenCTM()),
    size: parseFloat(getComputedStyle(text).fontSize) * svg.getScreenCTM().a,
  }));
  const ofAxis = (element) => element.closest("[id^='matplotlib.axis']") !== null;
  const marks = seen("use").map((use) => ({ tick: ofAxis(use), corners: corners(use.getBoundingClientRect()) }));
  const lines = seen("path")
    .map((path) => [path, getComputedStyle(path)])
    .filter(([, style]) => style.stroke !== "none" && style.stroke !== grid)
    .map(([path, style]) => {
      const matrix = path.getScreenCTM();
      const steps = Math.max(1, Math.ceil(path.getTotalLength() * matrix.a));
      const points = Array.from({ length: steps + 1 }, (_, step) => {
        const at = path.getPointAtLength((path.getTotalLength() * step) / steps);
        return place(matrix, at.x, at.y);
      });
      return { thickness: parseFloat(style.strokeWidth) * matrix.a, points };
    });
  const { width, height } = svg.getBoundingClientRect();
  return { texts, marks, lines, picture: [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => {
    const { left, top } = svg.getBoundingClientRect();
    return [left + x, top + y];
  }) };
}
