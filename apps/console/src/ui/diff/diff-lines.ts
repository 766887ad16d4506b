export interface DiffLine {
  readonly left: string | undefined;
  readonly right: string | undefined;
  readonly change: 'same' | 'added' | 'removed';
}

/** Longer texts are shown as removed and added as a whole: the comparison takes time and memory by the square. */
const MAX_LINES = 1500;

/** Two texts line by line, by their longest common subsequence. */
export function diffLines(left: readonly string[], right: readonly string[]): DiffLine[] {
  if (left.length > MAX_LINES || right.length > MAX_LINES) return [...left.map(removed), ...right.map(added)];
  const common = commonLengths(left, right);
  const lines: DiffLine[] = [];
  let [at, to] = [0, 0];
  while (at < left.length && to < right.length) {
    const [one = '', other = ''] = [left[at], right[to]];
    if (one === other) {
      lines.push({ left: one, right: other, change: 'same' });
      at += 1;
      to += 1;
    } else if (lengthAt(common, at + 1, to) >= lengthAt(common, at, to + 1)) {
      lines.push(removed(one));
      at += 1;
    } else {
      lines.push(added(other));
      to += 1;
    }
  }
  return [...lines, ...left.slice(at).map(removed), ...right.slice(to).map(added)];
}

const removed = (line: string): DiffLine => ({ left: line, right: undefined, change: 'removed' });
const added = (line: string): DiffLine => ({ left: undefined, right: line, change: 'added' });

type Lengths = readonly Uint16Array[];
const lengthAt = (lengths: Lengths, at: number, to: number): number => lengths[at]?.[to] ?? 0;

/** At [i][j]: how many lines the rests from i and j have in common. */
function commonLengths(left: readonly string[], right: readonly string[]): Lengths {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let at = left.length - 1; at >= 0; at--)
    for (let to = right.length - 1; to >= 0; to--) {
      const row = lengths[at];
      if (row === undefined) continue;
      row[to] =
        left[at] === right[to]
          ? lengthAt(lengths, at + 1, to + 1) + 1
          : Math.max(lengthAt(lengths, at + 1, to), lengthAt(lengths, at, to + 1));
    }
  return lengths;
}
