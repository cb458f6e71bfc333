// Keeps a page of a running event up to date: puts the server's fragments into their places.
"use strict";
(() => {
  const body = document.body;
  const sign = document.getElementById("connection");
  let source = null, seen = body.dataset.seen;

  const swap = (name, html) => {
    for (const place of document.querySelectorAll(`[data-live="${name}"]`)) place.innerHTML = html;
  };

  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(`${body.dataset.events}?seen=${encodeURIComponent(seen)}`);
    source.onopen = () => { sign.textContent = "live"; };
    source.onerror = () => { sign.textContent = "no connection; trying again"; };
    source.onmessage = (event) => {
      seen = event.lastEventId;
      for (const [name, html] of Object.entries(JSON.parse(event.data))) swap(name, html);
    };
    source.addEventListener("end", () => { source.close(); sign.textContent = "over"; });
  };
  open();
})();
