/** The nodes of EVM chains by the chain's id, in the order in which they are asked. */
export type NodeUrls = Readonly<Record<number, readonly string[]>>;

/** What `WALLET_NODES` has to look like. */
export const NODES_FORM =
  'nodes such as eip155:8453=https://node.example, separated by commas; a chain may have several';

const ENTRY = /^eip155:([1-9]\d{0,14})=(https?:\/\/[^\s,]+)$/;

/** Undefined for a text that is no such list. */
export function parseNodes(text: string): NodeUrls | undefined {
  const nodes: Record<number, string[]> = {};
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '' && text.trim() === '') continue;
    const [, chainId, url = ''] = ENTRY.exec(part) ?? [];
    if (chainId === undefined || !URL.canParse(url)) return undefined;
    nodes[Number(chainId)] = [...(nodes[Number(chainId)] ?? []), url];
  }
  return nodes;
}
