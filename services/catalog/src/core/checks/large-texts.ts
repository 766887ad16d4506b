import { type FieldProblem, fieldProblem, refusal, toPointer } from '@orrery/contracts';
import type { CatalogLimits } from '../limits.js';

const PROMPTS = [
  ['promptSeed'],
  ['behaviorPrompt'],
  ['mutationSettings', 'behaviorPrompt'],
  ['firstVersion', 'behaviorPrompt'],
  ['firstVersion', 'mutationSettings', 'behaviorPrompt'],
];

/** Holds the texts and tags of a body to the operator's limits. @throws ServiceError `validation_failed` with pointers */
export function refuseLargeTexts(body: object, limits: CatalogLimits): void {
  const problems = [
    ...textProblems(body, ['description'], 'A description', limits.descriptionBytes),
    ...PROMPTS.flatMap((path) => textProblems(body, path, 'A prompt', limits.promptBytes)),
    ...tagProblems(memberAt(body, ['domainTags']), limits),
  ];
  if (problems.length > 0) throw refusal(problems, 'The body');
}

function textProblems(body: unknown, path: string[], what: string, maxBytes: number): FieldProblem[] {
  const text = memberAt(body, path);
  if (typeof text !== 'string' || Buffer.byteLength(text) <= maxBytes) return [];
  return [fieldProblem(toPointer(path), 'too_large', `${what} may have at most ${maxBytes / 1024} KiB.`)];
}

function tagProblems(tags: unknown, { domainTags, domainTagCharacters }: CatalogLimits): FieldProblem[] {
  if (!Array.isArray(tags)) return [];
  const tooMany = `A world may have at most ${domainTags} tags.`;
  const tooLong = `A tag may have at most ${domainTagCharacters} characters.`;
  return [
    ...(tags.length > domainTags ? [fieldProblem('/domainTags', 'too_big', tooMany)] : []),
    ...tags.flatMap((tag: string, index) =>
      [...tag].length > domainTagCharacters
        ? [fieldProblem(`/domainTags/${index}`, 'too_large', tooLong)]
        : [],
    ),
  ];
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((member, name) => (member as Record<string, unknown> | null)?.[name], value);
}
