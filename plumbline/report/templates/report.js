(() => {
  "use strict";
  const root = document.documentElement, theme = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  theme.hidden = false;
  theme.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; name(); };
  name();

  const form = document.getElementById("filters"), words = document.getElementById("words");
  const host = document.getElementById("host"), attention = document.getElementById("attention");
  const count = document.getElementById("count");
  const sections = [...document.querySelectorAll(".benchmark")];
  const texts = new Map(sections.map(one => [one, one.textContent.toLowerCase()]));
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of sections) {
      const here = !host.value || section.dataset.hosts.split("\n").includes(host.value);
      const asks = !attention.checked || "attention" in section.dataset;
      section.hidden = !(here && asks && wanted.every(word => texts.get(section).includes(word)));
      shown += section.hidden ? 0 : 1;
      for (const row of section.querySelectorAll("[data-host]"))
        row.hidden = (host.value && !row.dataset.host.split("\n").includes(host.value)) ||
          (attention.checked && !("attention" in row.dataset));
    }
    const active = wanted.length || host.value || attention.checked;
    count.textContent = active ? `${shown} of ${sections.length} benchmarks` : "";
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
})();
