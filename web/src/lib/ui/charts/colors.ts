/** Converts the page's `oklch()` colors to `rgba()` for the chart library. The browser performs the conversion: a pixel
 *  is painted and read back. */
const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

/** @param property the name of a CSS custom property that contains a color */
export function colorOf(element: Element, property: string): string {
  const color = getComputedStyle(element).getPropertyValue(property).trim();
  if (!pixel) return color;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pixel.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, 1)`;
}

/** @param color a result of `colorOf` */
export function withAlpha(color: string, alpha: number): string {
  return color.replace(/, 1\)$/, `, ${alpha})`);
}
