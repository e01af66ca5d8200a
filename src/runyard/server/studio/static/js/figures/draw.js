/** Draws the figure that the page around it sends. It runs in a sandbox, without an origin: `studio/figures.py`. */
{
  const plotly = /** @type {any} */ (globalThis).Plotly;
  const place = document.getElementById("figure");
  const config = { responsive: true, displaylogo: false, plotlyServerURL: "", showSendToCloud: false };

  addEventListener("message", (event) => {
    if (event.source !== parent) return;
    const { data, layout, frames } = event.data;
    plotly.newPlot(place, { data, layout: { ...layout, autosize: true, width: undefined }, frames, config }).then(
      () => parent.postMessage({ drawn: true }, "*"),
      (/** @type {any} */ error) => parent.postMessage({ problem: String(error?.message ?? error).slice(0, 500) }, "*"),
    );
  });
  parent.postMessage({ ready: true }, "*");
}
