import { StartupError } from '@orrery/service-kit';
import type { Server } from '../server/find-server.js';
import type { OperationRequest } from './fill-request.js';
import type { Extra } from './operation-command.js';
import { askFor, operationNamed } from './perform-operation.js';

/** Of commands that name an entry of a journal: its `seq` may stand for its id. */
export const BY_ENTRY: Pick<Extra, 'targets' | 'refine'> = {
  targets: { historyId: 'an entry by its id (historyId), or by its seq, as `history list` shows it' },
  refine: (request, _typed, server) => withId(request, server),
};

/** An id is a UUID, so a whole number is a `seq`. @throws StartupError where the journal has no such entry */
async function withId(request: OperationRequest, server: Server): Promise<OperationRequest> {
  const { params } = request;
  const { historyId = '' } = params;
  if (!/^\d{1,15}$/.test(historyId)) return request;
  const seq = Number(historyId);
  const query = { include: 'all', limit: '1', after: String(seq + 1) };
  const { data } = await askFor(operationNamed('history.list'), { params, query }, server);
  const [entry] = data as readonly { readonly id: string; readonly seq: number }[];
  if (entry?.seq === seq) return { ...request, params: { ...params, historyId: entry.id } };
  throw new StartupError(
    `The journal has no entry ${historyId}: \`orrery history list --include all\` shows its entries by their seq.`,
  );
}
