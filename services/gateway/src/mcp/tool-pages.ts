import type { PublicDeployment, PublicEvent } from '@orrery/contracts';
import { eventsByTool, toolOf } from './event-tools.js';

/** What `tools/list` tells of an event. */
const listed = (address: string, event: PublicEvent) => {
  const { name, inputSchema } = toolOf(address, event);
  return {
    name,
    title: event.event,
    description: event.description ?? `Executes the event "${event.event}".`,
    inputSchema,
    _meta: { 'orrery/event': event.event, 'orrery/priceUsd': event.priceUsd },
  };
};

interface ToolPage {
  tools: ReturnType<typeof listed>[];
  nextCursor?: string;
}

/** Characters of the tools of a page: the protocol's package looks through all of them while others wait. */
const PAGE_CHARACTERS = 256 * 1024;

/**
 * The tools behind the one that the cursor names, as many as a page takes, and at least one. Undefined where the cursor names
 * none of them.
 */
export function pageOfTools(
  { address, events }: Pick<PublicDeployment, 'address' | 'events'>,
  cursor: string | undefined,
): ToolPage | undefined {
  const byName = eventsByTool(events);
  const names = [...byName.keys()];
  const from = cursor === undefined ? 0 : names.indexOf(cursor) + 1;
  if (cursor !== undefined && from === 0) return undefined;
  const tools: ToolPage['tools'] = [];
  let characters = 0;
  for (const event of [...byName.values()].slice(from)) {
    const tool = listed(address, event);
    characters += JSON.stringify(tool).length;
    if (tools.length > 0 && characters > PAGE_CHARACTERS)
      return { tools, nextCursor: tools.at(-1)?.name ?? '' };
    tools.push(tool);
  }
  return { tools };
}
