/** Compiles the registry contract: its ABI and the bytecode that deploys it. */
export function compileRegistry(): {
  readonly contract: string;
  readonly compiler: string;
  readonly abi: readonly object[];
  readonly bytecode: `0x${string}`;
};
