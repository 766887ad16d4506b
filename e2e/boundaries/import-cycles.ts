import type { Import } from './source-imports.js';

/**
 * The import cycles among files: the strongly connected components of more than one file (Tarjan), and files that
 * import themselves. Each is sorted by path.
 */
export function cyclesIn(imports: readonly Pick<Import, 'file' | 'path'>[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { file, path } of imports)
    if (path !== undefined) targets.set(file, [...(targets.get(file) ?? []), path]);
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  const visit = (file: string): void => {
    const own = index.size;
    index.set(file, own);
    lowest.set(file, own);
    stack.push(file);
    for (const target of targets.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target))
        lowest.set(file, Math.min(lowest.get(file) ?? own, lowest.get(target) ?? own));
    }
    if (lowest.get(file) !== own) return;
    const component = stack.splice(stack.indexOf(file)).sort();
    if (component.length > 1 || targets.get(file)?.includes(file)) cycles.push(component);
  };
  for (const file of targets.keys()) if (!index.has(file)) visit(file);
  return cycles.sort((a, b) => b.length - a.length);
}
