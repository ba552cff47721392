/** Converts the colors of the page, written in `oklch()`, to `rgba()` for the drawing library. The browser converts
 *  them by painting a pixel. */
const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

/** @param property a custom property with a color */
export function colorOf(element: Element, property: string): string {
  const color = getComputedStyle(element).getPropertyValue(property).trim();
  if (!pixel) return color;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pixel.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, 1)`;
}

/** @param color from `colorOf` */
export function withAlpha(color: string, alpha: number): string {
  return color.replace(/, 1\)$/, `, ${alpha})`);
}
