// Charts: one at a time, families that can be hidden, points that are read by mouse or arrow keys.
const charts = [...document.querySelectorAll(".chart")];
const chooser = document.getElementById("chart");

function show(key) {
  for (const chart of charts) chart.hidden = chart.dataset.key !== key;
}

function open(chart, point, focus) {
  for (const other of chart.querySelectorAll(".point")) {
    other.setAttribute("tabindex", other === point ? "0" : "-1");
    other.setAttribute("aria-selected", String(other === point));
    other.classList.toggle("chosen", other === point);
  }
  chart.querySelector(".told").textContent = point.getAttribute("aria-label");
  if (focus) point.focus();
}

function distance(point, event) {
  const box = point.getBoundingClientRect();
  return Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
}

for (const chart of charts) {
  const points = [...chart.querySelectorAll(".point")];
  const hits = [...chart.querySelectorAll(".hit")];
  const seen = () => points.filter((point) => point.style.display !== "none");
  // The surroundings of points overlap: what counts is which point is nearest.
  const nearest = (event) =>
    seen().reduce((best, point) => (distance(point, event) < distance(best, event) ? point : best));
  for (const hit of hits) hit.addEventListener("click", (event) => open(chart, nearest(event), true));
  for (const point of points) {
    point.addEventListener("click", () => open(chart, point, true));
    point.addEventListener("mouseenter", () => open(chart, point, false));
    point.addEventListener("focus", () => open(chart, point, false));
    point.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      const all = seen();
      let next = all.indexOf(point) + (steps[event.key] ?? 0);
      if (event.key === "Home") next = 0;
      else if (event.key === "End") next = all.length - 1;
      else if (!(event.key in steps)) return;
      event.preventDefault();
      open(chart, all[(next + all.length) % all.length], true);
    });
  }
  for (const button of chart.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const part of [...points, ...hits]) {
        if (part.dataset.family === button.dataset.family) part.style.display = shown ? "" : "none";
      }
      // The line joins the best of all families.
      const all = [...chart.querySelectorAll(".legend button")];
      const whole = all.every((other) => other.getAttribute("aria-pressed") === "true");
      chart.querySelector(".front").style.display = whole ? "" : "none";
      // The one point that the tab key reaches has to be one that is seen.
      const reached = seen().find((point) => point.getAttribute("tabindex") === "0") ?? seen()[0];
      for (const point of points) point.setAttribute("tabindex", point === reached ? "0" : "-1");
      // So has the one that is told of.
      const chosen = points.find((point) => point.getAttribute("aria-selected") === "true");
      if (reached && chosen && !seen().includes(chosen)) open(chart, reached, false);
    });
  }
}

if (charts.length > 1) {
  chooser.closest(".choose").hidden = false;
  chooser.addEventListener("change", () => show(chooser.value));
  show(chooser.value);
}

// Tables of systems: a heading sorts by its column, again turns that round, and a third time gives
// back the order of the run. What was not measured stays at the end.
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
const MISSING = ["", "–"];

function compare(one, other) {
  return parseFloat(one) - parseFloat(other) || one.localeCompare(other, "en", { numeric: true });
}

function sorted(rows, column, order) {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const text = (row) => row.cells[column].textContent.trim().replace("×", "").replace("−", "-");
  const missing = (row) => MISSING.includes(text(row));
  const there = rows.filter((row) => !missing(row));
  there.sort((one, other) => sign * compare(text(one), text(other)));
  return [...there, ...rows.filter(missing)];
}

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const ofTheRun = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = NEXT[head.getAttribute("aria-sort") ?? "none"];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (order !== "none") head.setAttribute("aria-sort", order);
      body.append(...sorted(ofTheRun, column, order));
    });
  });
}

// A drawing stands with its paper, and below the translations of its line once more: it is in the
// page once, and shown here from there.
for (const copy of document.querySelectorAll("img[data-of]")) {
  copy.src = document.getElementById(copy.dataset.of).querySelector("img").src;
  copy.hidden = false;
}
