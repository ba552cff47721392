import { EditorView } from '@codemirror/view';

/** Creates an editor in a shadow tree of `host`, where it can use adopted style sheets. Outside a shadow tree, the
 *  editor would add style elements, which the content security policy blocks. */
export function createShadowEditor(host: Element): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  return new EditorView({ parent: root, root });
}
