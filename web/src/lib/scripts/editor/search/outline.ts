import { pythonLanguage } from '@codemirror/lang-python';
import type { SyntaxNode } from '@lezer/common';

/** A class or function in a Python file. */
export interface OutlineItem {
  readonly kind: 'class' | 'function';
  readonly name: string;
  /** The number of enclosing classes and functions. */
  readonly depth: number;
  /** The line number, starting at 1. */
  readonly line: number;
  /** The offset of the name in the file. */
  readonly offset: number;
}

/** Returns the classes and functions in order, even if the code has syntax errors. */
export function outlineOf(text: string): OutlineItem[] {
  const items: OutlineItem[] = [];
  let [depth, line, counted] = [0, 1, 0];
  const isDefinition = ({ name }: SyntaxNode) =>
    name === 'ClassDefinition' || name === 'FunctionDefinition';
  pythonLanguage.parser.parse(text).iterate({
    enter: ({ node }) => {
      if (!isDefinition(node)) return;
      const name = node.getChild('VariableName');
      if (name) {
        line += text.slice(counted, name.from).split('\n').length - 1;
        counted = name.from;
        items.push({
          kind: node.name === 'ClassDefinition' ? 'class' : 'function',
          name: text.slice(name.from, name.to),
          depth,
          line,
          offset: name.from,
        });
      }
      depth += 1;
    },
    leave: ({ node }) => {
      if (isDefinition(node)) depth -= 1;
    },
  });
  return items;
}
