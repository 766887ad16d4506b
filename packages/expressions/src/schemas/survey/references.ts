import { type FieldProblem, fieldProblem, type JsonObject, type JsonValue } from '@orrery/contracts';
import { quoted } from '../../messages/error-text.js';
import type { Survey } from './survey-schema.js';

/** Pointer of the schema that a `$ref` leads to: `#`, `#/$defs/x` or `#anchor`; undefined when there is none. */
export function resolveReference(reference: string, survey: Survey): string | undefined {
  if (!reference.startsWith('#')) return undefined;
  const target = decode(reference.slice(1));
  if (target === undefined) return undefined;
  const pointer = target === '' || target.startsWith('/') ? target : survey.anchors.get(target);
  return pointer !== undefined && survey.schemas.has(pointer) ? pointer : undefined;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

/** Schemas that hold for a value whenever this one does. */
export function alsoHolding({ $ref, allOf }: JsonObject, survey: Survey): JsonValue[] {
  const pointer = typeof $ref === 'string' ? resolveReference($ref, survey) : undefined;
  const referred = pointer === undefined ? [] : (survey.schemas.get(pointer) ?? []);
  return [referred, allOf ?? []].flat();
}

/** References that lead nowhere (or out of the document), and schemas that contain themselves for the same value. */
export function referenceProblems(survey: Survey): FieldProblem[] {
  const lost = [...survey.references].filter(
    ([, reference]) => resolveReference(reference, survey) === undefined,
  );
  if (lost.length > 0)
    return lost.slice(0, 20).map(([pointer, reference]) => lostReference(pointer, reference));
  const loop = findLoop(survey);
  return loop === undefined
    ? []
    : [fieldProblem(loop, 'reference_loop', 'The schema refers to itself without end.')];
}

const lostReference = (pointer: string, reference: string): FieldProblem =>
  fieldProblem(
    `${pointer}/$ref`,
    'unknown_reference',
    `The reference "${quoted(reference)}" leads to no schema in this document.`,
  );

const inPlaceOf = (pointer: string, survey: Survey): string[] => {
  const reference = survey.references.get(pointer);
  const target = reference === undefined ? undefined : resolveReference(reference, survey);
  return [...(survey.inPlace.get(pointer) ?? []), ...(target === undefined ? [] : [target])];
};

/** Depth first with its own stack: a schema met again while it is still open closes a loop. */
function findLoop(survey: Survey): string | undefined {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of survey.schemas.keys()) {
    const stack: { pointer: string; leaving: boolean }[] = [{ pointer: start, leaving: false }];
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      const { pointer, leaving } = step;
      if (leaving) state.set(pointer, 'done');
      else if (state.get(pointer) === 'open') return pointer;
      else if (!state.has(pointer)) {
        state.set(pointer, 'open');
        stack.push({ pointer, leaving: true });
        stack.push(...inPlaceOf(pointer, survey).map((next) => ({ pointer: next, leaving: false })));
      }
    }
  }
  return undefined;
}
