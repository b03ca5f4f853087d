/** The price after a discount of `percent` (0 to 100), rounded to cents. */
export function discounted(price, percent) {
  return round(reduce(price, percent));
}

function reduce(price, percent) {
  return price - price * percent;
}

function round(amount) {
  return Math.round(amount * 100) / 100;
}
