import { readAnswer, readTable } from './read-table.js';
import type { RefusalPaths } from './refusal-world.js';

type Row = readonly [answer: string, body?: unknown, headers?: Record<string, string>];

/** Requests below the world or the deployment that are refused before anything is read or written. */
export const refusedRequests = Object.entries(
  readTable<Readonly<Record<string, Row>>>('refused-requests.yaml'),
).flatMap(([request, rows]) => {
  const [method = '', path = ''] = request.split(' ');
  const pathIn = ({ world, deployment }: RefusalPaths) =>
    path.replace(':world', world).replace(':deployment', deployment);
  return Object.entries(rows).map(([what, [answer, body, headers]]) => ({
    ...{ what, method, pathIn, body, headers },
    ...readAnswer(answer),
  }));
});
