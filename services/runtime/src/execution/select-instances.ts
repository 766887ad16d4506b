import { type JsonObject, ServiceError } from '@orrery/contracts';
import { readPath } from '@orrery/expressions';

/**
 * The instanceIds that a filter names in the input, each once, in the order of its paths (interface §6 rules 1–4). An
 * absent or null value selects nothing. Throws `invalid_input` for what names no instance, such as an object.
 */
export function selectInstances(filter: readonly string[], input: JsonObject): Set<string> {
  const selected = new Set<string>();
  for (const path of filter) for (const id of idsAt(path, input)) selected.add(id);
  return selected;
}

function idsAt(path: string, input: JsonObject): string[] {
  const found = readPath(input, path);
  if (found.ok) return found.ids;
  throw new ServiceError('invalid_input', found.problem.message, { errors: [found.problem] });
}
