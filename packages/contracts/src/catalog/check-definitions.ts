import { z } from 'zod';
import { MAX_FOUND } from '../json/problems.js';
import { definitionProblem } from '../records/problems.js';
import { OF_ACCOUNT, operationsAt } from '../rpc/operation.js';
import { createEntitySchemaBody } from './entity-schemas.js';
import { createEventBody } from './events.js';

/** Definitions of one kind in one request; a world has no more of them by default. */
const MAX_CHECKED = 500;
export const definitionCheck = z
  .strictObject({
    problems: z
      .array(definitionProblem)
      .max(MAX_FOUND)
      .describe('What saving these definitions would refuse.'),
    warnings: z
      .array(definitionProblem)
      .max(MAX_FOUND)
      .describe('Likely mistakes that are allowed: saving tells them, too.'),
  })
  .meta({ id: 'DefinitionCheck', description: 'What is wrong with the definitions of a world.' });
export type DefinitionCheck = z.infer<typeof definitionCheck>;

export const checkDefinitionsBody = z
  .strictObject({
    entitySchemas: z
      .array(createEntitySchemaBody)
      .max(MAX_CHECKED)
      .default([])
      .describe('The schemas of the world: those that the events may name.'),
    events: z.array(createEventBody).max(MAX_CHECKED).default([]).describe('Events with a version each.'),
  })
  .meta({ id: 'CheckedDefinitions', description: 'Definitions of a world, which need not exist.' });
export type CheckDefinitionsBody = z.output<typeof checkDefinitionsBody>;

export const checkRpcs = {
  'worlds.check': operationsAt('/api/worlds', 'Worlds', { access: OF_ACCOUNT }).write(
    'POST',
    '/check',
    'Check the definitions of a world as saving them would, and store nothing',
    { body: checkDefinitionsBody, data: definitionCheck },
  ),
};
