import { createOrrery } from '@orrery/sdk';
import { KEPT_ROWS } from './apply-entries.js';
import type { Entry, Found, PublicDeployment, Row, Rows } from './records.js';

export const orrery = createOrrery({ url: '' });

const DEPLOYMENT = '/app/deployments/{address}';
const HISTORY = '/app/deployments/{address}/history';
const INSTANCES = '/app/deployments/{address}/entity-instances';
const PAGE = 100;
const ENTRIES = 40;

export interface Search {
  /** Part of an instance's id. */
  readonly find: string;
  /** As the API takes it, such as `wins desc`; empty: as listed. */
  readonly orderBy: string;
}

/** Reads of a published deployment; instances as they are, or as they were after the entry `atSeq`. */
export interface Reader {
  describe(signal: AbortSignal): Promise<PublicDeployment>;
  /** The entries before one, or the newest; newest first. */
  entriesBefore(seq: number | undefined, signal: AbortSignal): Promise<Entry[]>;
  /** The instances of a schema, as many as the page keeps. */
  rowsOf(schema: string, atSeq: number | undefined, signal: AbortSignal): Promise<Rows>;
  search(schema: string, search: Search, atSeq: number | undefined, signal: AbortSignal): Promise<Found>;
}

export function createReader(address: string): Reader {
  const path = { address };
  return {
    describe: (signal) => orrery.get(DEPLOYMENT, { path, signal }),
    entriesBefore: async (seq, signal) => {
      const query = { include: 'all', limit: ENTRIES, ...(seq !== undefined && { after: seq }) } as const;
      return (await orrery.get(HISTORY, { path, query, signal })) as Entry[];
    },
    rowsOf: async (schema, atSeq, signal) => {
      const rows = new Map<string, Row>();
      for (let page = 1; ; page += 1) {
        const query = { entitySchema: schema, page, limit: PAGE, ...(atSeq !== undefined && { atSeq }) };
        const { data, pagination } = await orrery.answer('get', INSTANCES, { path, query, signal });
        for (const { instanceId: id, state } of data) rows.set(id, { id, state, changed: {} });
        const { total = rows.size, totalIsMinimum: isMinimum = false } = pagination as Totals;
        if (data.length < PAGE || rows.size >= KEPT_ROWS)
          return { rows, total: Math.max(total, rows.size), isMinimum };
      }
    },
    search: async (schema, { find, orderBy }, atSeq, signal) => {
      const query = {
        entitySchema: schema,
        limit: PAGE,
        // A text of CEL is written as one of JSON.
        ...(find !== '' && { where: `id.contains(${JSON.stringify(find)})` }),
        ...(orderBy !== '' && { orderBy }),
        ...(atSeq !== undefined && { atSeq }),
      };
      const { data, pagination } = await orrery.answer('get', INSTANCES, { path, query, signal });
      const rows = data.map(({ instanceId: id, state }) => ({ id, state, changed: {} }));
      return { rows, isCut: 'next' in pagination && pagination.next !== null };
    },
  };
}

interface Totals {
  readonly total?: number;
  readonly totalIsMinimum?: true;
}
