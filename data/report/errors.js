"use strict";
// What goes wrong is said on the page, and left in the document for tests.
function report(message) {
  document.body.dataset.error = message;
  const note = document.createElement("p");
  note.className = "verdict invalid";
  note.textContent = "This page could not be drawn: " + message;
  document.body.prepend(note);
}
window.addEventListener("error", (event) => report(event.message));
window.addEventListener("unhandledrejection", (event) => report(String(event.reason)));
