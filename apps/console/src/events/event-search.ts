/** Which versions are compared. */
export interface EventSearch {
  left?: number;
  right?: number;
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;

export function readEventSearch({ left, right }: Record<string, unknown>): EventSearch {
  const [one, other] = [numberIn(left), numberIn(right)];
  return { ...(one && { left: one }), ...(other && { right: other }) };
}

export function readEditSearch({ version, from }: Record<string, unknown>): {
  version?: number;
  from?: number;
} {
  const [edited, source] = [numberIn(version), numberIn(from)];
  return { ...(edited && { version: edited }), ...(source && { from: source }) };
}
