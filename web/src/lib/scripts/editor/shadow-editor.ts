import { EditorView } from '@codemirror/view';

/** An editor in a shadow tree of `host`, where it uses adopted style sheets. In the page it would need style elements,
 *  which the content security policy refuses. */
export function createShadowEditor(host: Element): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  return new EditorView({ parent: root, root });
}
