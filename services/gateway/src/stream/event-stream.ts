import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Server-sent events to one client (HTML Living Standard §9.2). Nothing is buffered here beyond the socket. */
export interface EventStream {
  /** Resolves when the socket accepts more. Rejects when the signal aborts first. */
  send(event: string, id: number | undefined, data: unknown): Promise<void>;
  /** Keeps the connection open through proxies and advances the client's last id. */
  heartbeat(id: number): void;
  /** Sends what a client may miss: it is left out while the socket accepts no more. */
  hint(event: string, data: unknown): void;
  end(): void;
}

export function openEventStream(response: ServerResponse, signal: AbortSignal): EventStream {
  return {
    send: async (event, id, data) => {
      const head = id === undefined ? '' : `id: ${id}\n`;
      const isTaken = response.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (!isTaken) await once(response, 'drain', { signal });
    },
    heartbeat: (id) => {
      // Nothing more is queued for a client that does not read.
      if (!response.writableNeedDrain) response.write(`: still here\nid: ${id}\n\n`);
    },
    hint: (event, data) => {
      if (!response.writableNeedDrain) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    end: () => response.end(),
  };
}
