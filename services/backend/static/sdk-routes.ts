/** Serves the SDK for local use, as a wheel and through a package index for pip. */
import { Readable } from 'node:stream';
import { version } from '#services/shared/version.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { stream, text, type Reply } from '../http/reply.ts';
import { sdkName, sdkPython, wheelName } from './wheel.ts';

const tag = 'SDK';
const page = { description: 'The page.', schema: Type.String(), mediaType: 'text/html' };

const projects = operation({
  method: 'get',
  path: '/sdk/simple',
  // PEP 503 requires the trailing slash, but API linters reject it.
  aliases: [{ path: '/sdk/simple/', undescribed: true }],
  operationId: 'listSdkProjects',
  summary: 'List the packages of the SDK package index (PEP 503)',
  tag,
  access: 'public',
  responses: { 200: page },
  handle: () => Promise.resolve(pageOf([{ address: `/sdk/simple/${sdkName}/`, name: sdkName }])),
});

const files = operation({
  method: 'get',
  path: `/sdk/simple/${sdkName}`,
  aliases: [{ path: `/sdk/simple/${sdkName}/`, undescribed: true }],
  operationId: 'listSdkFiles',
  summary: 'List the files of the SDK (PEP 503)',
  description: `Used by \`pip install --index-url https://…/sdk/simple/ ${sdkName}\`.`,
  tag,
  access: 'public',
  responses: { 200: page },
  handle: async (_call, { sdkWheel }) => {
    const { fileName: name, sha256 } = await sdkWheel();
    return pageOf([{ address: `/sdk/${name}#sha256=${sha256}`, name }]);
  },
});

const wheel = operation({
  method: 'get',
  path: '/sdk/{file}',
  operationId: 'downloadSdk',
  summary: 'Download the SDK as a wheel',
  description:
    'Scripts import the SDK as `orchestrator`. The SDK requires only Python 3.9 or newer. Outside ' +
    'the platform, it works in local mode.',
  tag,
  access: 'public',
  parameters: {
    file: {
      description: 'File name of the wheel.',
      schema: Type.String(),
      example: wheelName(version),
      parse: (name: string) => name,
    },
  },
  responses: {
    200: {
      description: 'The wheel.',
      schema: Type.String({ format: 'binary' }),
      mediaType: 'application/octet-stream',
    },
  },
  handle: async ({ parameters }, { sdkWheel }) => {
    const { fileName, content } = await sdkWheel();
    if (parameters.file !== fileName) return notFound;
    return stream(200, 'application/octet-stream', Readable.from([content]), {
      'Content-Length': String(content.length),
      'Cache-Control': 'no-cache',
    });
  },
});

interface Link {
  readonly address: string;
  readonly name: string;
}

function pageOf(links: readonly Link[]): Reply {
  const python = sdkPython.replace('>', '&gt;');
  const lines = links.map(
    ({ address, name }) => `<a href="${address}" data-requires-python="${python}">${name}</a>`,
  );
  const html = `<!doctype html>\n<html><body>\n${lines.join('<br>\n')}\n</body></html>\n`;
  return text(200, 'text/html; charset=utf-8', html, { 'Cache-Control': 'no-cache' });
}

export const sdkOperations: readonly Operation[] = [projects, files, wheel];
