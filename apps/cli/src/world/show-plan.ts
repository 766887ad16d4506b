import { structuredPatch } from 'diff';
import { writeYaml } from '../documents/yaml-text.js';
import type { Change, Plan } from './plan-changes.js';

/** Unchanged lines that are shown around a change. */
const CONTEXT = 2;

/** A plan for people: what is created, changed (with the lines that differ) and deleted, and what stays as it is. */
export function showPlan({ changes, left, keepsOldSchemas }: Plan): string {
  const lines = changes.flatMap((change) => [titleOf(change), ...detailsOf(change)]);
  if (left.length > 0) lines.push(`Only on the server, and left there without --prune: ${left.join(', ')}.`);
  if (keepsOldSchemas.length > 0)
    lines.push(
      `Locked versions keep the schemas of their day; a new version takes the changed ones up: ${keepsOldSchemas.join(', ')}.`,
    );
  return lines.join('\n');
}

const SIGNS: Readonly<Record<string, string>> = { create: '+', change: '~', delete: '-' };

export function titleOf(change: Change): string {
  const [verb = '', kind = ''] = change.what.split(' ');
  const title = `${SIGNS[verb]} ${kind} ${change.name}`;
  if (change.what !== 'change event' || change.version === undefined) return title;
  const { number, isNew, because } = change.version;
  if (!isNew) return `${title}: version ${number}, which is a draft, changes in place`;
  return `${title}: new version ${number}${because === undefined ? '' : ` (${because})`}`;
}

function detailsOf(change: Change): string[] {
  if (!('from' in change)) return [];
  const [before, after] = [writeYaml(change.from), writeYaml(change.to)];
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  return hunks.flatMap(({ lines }, at) => [
    ...(at > 0 ? ['    …'] : []),
    ...lines.map((line) => `    ${line}`.trimEnd()),
  ]);
}
