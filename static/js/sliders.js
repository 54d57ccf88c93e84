// A slider and its number box hold the same value; the number box is the one that is sent.
// Listening in the capture phase sets it before the form itself hears of the change.
document.addEventListener("input", (event) => {
  const slider = event.target.closest("[data-slider]");
  if (!slider) return;
  const range = slider.querySelector("[data-slider-range]");
  const number = slider.querySelector('input[type="number"]');
  if (event.target === range) number.value = range.value;
  else if (number.value !== "") range.value = number.value;
}, true);
