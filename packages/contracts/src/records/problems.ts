import { z } from 'zod';

/** A problem as answers tell it: see `SuggestedProblem`. */
export const definitionProblem = z
  .strictObject({
    pointer: z
      .string()
      .describe('Where in the body, as RFC 6901 says it; `#query/…`: a parameter of the query.'),
    code: z.string().describe('What is wrong, as a word for programs: docs/mistakes.md lists them.'),
    message: z.string().describe('What is wrong, for people.'),
    suggestion: z.string().describe('What to write, or to do, for people and for language models.'),
  })
  .meta({ id: 'DefinitionProblem', description: 'What is wrong with one part of a definition.' });
