/** Lists the templates for new scripts. */
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { TemplatePage } from './schema.ts';
import { templateFiles, templateIds, templateTexts } from './templates.ts';

const list = operation({
  method: 'get',
  path: '/api/v1/templates',
  operationId: 'listTemplates',
  summary: 'List the script templates',
  description: 'Pass the ID as `template` when you create a script. Each template is ready to run.',
  tag: 'Scripts',
  access: { right: 'scripts.list' },
  responses: { 200: { description: 'The complete list.', schema: TemplatePage } },
  handle: async () => {
    const items = templateIds.map(async (id) => {
      const files = await templateFiles(id);
      const shown = files.map(({ path, content }) => ({ path, size_bytes: content.length }));
      return { id, ...templateTexts[id], files: shown };
    });
    return json(200, { items: await Promise.all(items), next_cursor: null });
  },
});

export const templateOperations: readonly Operation[] = [list];
