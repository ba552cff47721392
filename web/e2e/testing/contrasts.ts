/** These functions run in the page, so they must not refer to anything outside their own body. */

/** The DOM properties that this file uses. This TypeScript program does not include the DOM types. */
interface PageElement {
  readonly parentElement: PageElement | null;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly nodeValue: string | null }>;
  readonly ownerDocument: { readonly defaultView: Window };
  matches(selector: string): boolean;
  checkVisibility(): boolean;
  querySelectorAll(selector: string): Iterable<PageElement>;
}
interface Window {
  readonly axe: Axe;
  getComputedStyle(element: PageElement): Readonly<Record<string, string>>;
}

/** The part of the axe API that the tests use. */
export interface Axe {
  run(
    context: { readonly include?: readonly PageElement[]; readonly exclude: readonly string[] },
    options: object,
  ): Promise<Readonly<Record<'violations' | 'passes', readonly Outcome[]>>>;
}
interface Outcome {
  readonly id: string;
  readonly nodes: readonly {
    readonly element?: PageElement;
    readonly html: string;
    readonly failureSummary: string;
  }[];
}

/** Checks the contrast of each text whose style is not in the known list. The style consists of everything that
 *  determines the contrast: color, size, weight, and the backgrounds behind the text.
 *  @returns the violations, and the styles with sufficient contrast */
export async function newContrasts(
  body: PageElement,
  known: readonly string[],
): Promise<{ readonly violations: readonly string[]; readonly looks: readonly string[] }> {
  const window = body.ownerDocument.defaultView;
  const behind = new Map<PageElement, string>();
  const backgrounds = (element: PageElement | null): string => {
    if (element === null) return '';
    const found = behind.get(element);
    if (found !== undefined) return found;
    const { backgroundColor, backgroundImage, opacity, filter } = window.getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity, filter].join(' ');
    const isPlain = own === 'rgba(0, 0, 0, 0) none 1 none';
    const all = backgrounds(element.parentElement) + (isPlain ? '' : `${own};`);
    behind.set(element, all);
    return all;
  };
  const looks = new Map<PageElement, string>();
  for (const element of body.querySelectorAll('*')) {
    const isText =
      element.matches('input, select, textarea') ||
      [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim() !== '');
    if (!isText || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textShadow } = window.getComputedStyle(element);
    const look = [backgrounds(element), color, fontSize, fontWeight, textShadow].join(' ');
    looks.set(element, look);
  }
  const include = [...looks].filter(([, look]) => !known.includes(look)).map(([text]) => text);
  if (include.length === 0) return { violations: [], looks: [] };
  const { violations, passes } = await window.axe.run(
    { include, exclude: ['[data-removed="true"]'] },
    {
      runOnly: ['color-contrast'],
      resultTypes: ['violations', 'passes'],
      selectors: false,
      elementRef: true,
    },
  );
  const sufficient = passes.flatMap(({ nodes }) =>
    nodes.flatMap(({ element }) => (element && looks.get(element)) ?? []),
  );
  return {
    violations: violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`),
    ),
    looks: [...new Set(sufficient)],
  };
}
