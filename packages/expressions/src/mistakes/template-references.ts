import { childPointer, isJsonObject, type JsonValue } from '@orrery/contracts';
import { type ExpressionCompiler, expressionCompiler } from '../cel/compile-expression.js';
import { positionIn } from '../templates/compile-text.js';
import { findPlaceholders } from '../templates/find-placeholders.js';
import { TEMPLATE_LIMITS } from '../templates/template-limits.js';
import { type Reference, referencesIn } from './expression-references.js';

/** A place of the data that a template reads, and where the template does so. */
export interface TemplateReference extends Reference {
  /** Of the text or the key, in the template. */
  readonly pointer: string;
  /** In that text: `Line 1, column 4`. */
  readonly position: string;
}

/** Everything that those placeholders of a template read that parse. Its size is bounded by who asks. */
export function templateReferences(template: JsonValue): TemplateReference[] {
  const { environment } = expressionCompiler([], TEMPLATE_LIMITS.expressionNodes);
  return textsIn(template, '').flatMap(({ text, pointer }) => {
    const found = findPlaceholders(text);
    const segments = found.ok ? found.segments : [];
    return segments.flatMap((segment) => {
      if (segment.kind === 'literal') return [];
      const at = (start: number) => positionIn(text, segment.start + start);
      return referencesOf(segment.source, environment).map((reference) => ({
        ...reference,
        pointer,
        position: at(reference.start),
      }));
    });
  });
}

function referencesOf(source: string, environment: ExpressionCompiler['environment']): Reference[] {
  try {
    return referencesIn(environment.parse(source).ast);
  } catch {
    return [];
  }
}

/** All texts and keys of a value that hold placeholders, with their pointers. */
function textsIn(value: JsonValue, pointer: string): { text: string; pointer: string }[] {
  if (typeof value === 'string') return value.includes('{{') ? [{ text: value, pointer }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${pointer}/${index}`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = childPointer(pointer, key);
    return [...textsIn(key, at), ...textsIn(member, at)];
  });
}
