import { expect, test } from 'vitest';
import { layOut, findCycle, type Link } from './layout.ts';

const link = (source: string, target: string, enabled = true): Link => ({
  id: `${source}>${target}`,
  source,
  target,
  enabled,
});

test('the layout draws each enabled chain forward, and routes it around the nodes in between', () => {
  const { nodes, routes, layers } = layOut([link('a', 'c'), link('a', 'b'), link('b', 'c')]);
  expect([...nodes].map(([name, { layer }]) => [name, layer])).toEqual([
    ['a', 0],
    ['c', 2],
    ['b', 1],
  ]);
  expect(routes.get('a>c')).toHaveLength(3);
  expect(layers).toBe(3);
});

test('the layout gives each node its own position, and puts separate graphs next to each other', () => {
  const links = [link('x', 'y'), link('a', 'b'), link('a', 'c'), link('a', 'd'), link('c', 'e')];
  const { nodes, lanes } = layOut(links);
  const places = [...nodes.values()].map(({ layer, lane }) => `${layer}/${lane}`);
  expect(new Set(places).size).toBe(7);
  expect(lanes).toBe(4);
  expect(nodes.get('x')?.lane).toBe(3);
});

test('the layout draws disabled chains in a cycle backward', () => {
  const { nodes, routes } = layOut([link('b', 'a', false), link('a', 'b'), link('a', 'a', false)]);
  expect(nodes.get('a')?.layer).toBe(0);
  expect(nodes.get('b')?.layer).toBe(1);
  expect(routes.get('b>a')).toHaveLength(2);
  expect(layOut([]).lanes).toBe(0);
});

test('the layout swaps neighboring nodes to avoid crossings', () => {
  const links = [link('a', 'p'), link('a', 'q'), link('b', 'r'), link('p', 'z'), link('r', 'y')];
  const { nodes } = layOut([...links, link('q', 'z'), link('b', 'p')]);
  const lane = (name: string) => nodes.get(name)?.lane ?? -1;
  expect(Math.sign(lane('p') - lane('r'))).toBe(Math.sign(lane('z') - lane('y')));
});

test('the search for a cycle returns its path, and ignores disabled chains', () => {
  const links = [link('a', 'b'), link('b', 'c')];
  expect(findCycle(links, 'c', 'a')).toEqual(['a', 'b', 'c']);
  expect(findCycle(links, 'a', 'a')).toEqual(['a']);
  expect(findCycle(links, 'a', 'c')).toBeNull();
  expect(findCycle([link('a', 'b', false)], 'b', 'a')).toBeNull();
});
