import { readFileSync } from 'node:fs';
import { ANVIL_KEYS } from '@orrery/testing/servers';
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  getContract,
  type Hex,
  http,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { beforeEach, describe, expect, it } from 'vitest';
import { compileRegistry } from '../contracts/compile.js';
import { pushRegistryBytecode } from '../src/chains/evm/registry-bytecode.js';
import { pushRegistryAbi } from '../src/chains/evm/registry-calls.js';
import { type Evm, startEvm } from './evm-house.js';

const deployment = `0x${'5a'.repeat(20)}` as const;
const hash = (digits: string) => `0x${digits.repeat(32)}` as const;

let evm: Evm;
beforeEach(async () => {
  evm = await startEvm();
});

const registryOf = (key: Hex) => {
  const account = privateKeyToAccount(key);
  const client = createWalletClient({
    account,
    chain: foundry,
    transport: http(evm.url, { timeout: 120_000 }),
  });
  return getContract({ address: evm.contract as Hex, abi: pushRegistryAbi, client });
};
/** Anvil answers with the hash of a transaction a moment before it is in a block. */
const inBlock = async (sent: Promise<Hex>): Promise<void> => {
  const client = createPublicClient({ transport: http(evm.url, { timeout: 120_000 }), pollingInterval: 20 });
  await client.waitForTransactionReceipt({ hash: await sent });
};
const push = (key: Hex, number: number, digest = hash('d1')) =>
  inBlock(registryOf(key).write.push([deployment, BigInt(number), hash('e1'), digest, '0x7b7d']));

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: unknown) => {
      const revert =
        error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
      return revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : error;
    },
  );

/** Without what an ABI says of the source alone, and without the defaults that a text of it leaves out. */
const withoutInternalTypes = (committed: unknown): unknown =>
  JSON.parse(JSON.stringify(committed), (key, value) => {
    const isDefault = value === '' || ((key === 'anonymous' || key === 'indexed') && value === false);
    return key === 'internalType' || isDefault ? undefined : value;
  });

describe('the registry contract', () => {
  it('is the source as committed, compiled', () => {
    const committed = JSON.parse(
      readFileSync(new URL('../contracts/PushRegistry.json', import.meta.url), 'utf8'),
    );
    expect(compileRegistry()).toEqual(committed);
    expect(pushRegistryBytecode).toBe(committed.bytecode);
    expect(pushRegistryAbi).toEqual(withoutInternalTypes(committed.abi));
  });

  it('records pushes in their sequence, and a repetition changes nothing', async () => {
    const [owner] = ANVIL_KEYS;
    for (const number of [1, 2, 1, 2]) await push(owner, number);
    expect((await evm.pushed()).map(({ number }) => number)).toEqual([1n, 2n]);
    expect(await registryOf(owner).read.lastNumber([deployment])).toBe(2n);
    expect(await registryOf(owner).read.digestOf([deployment, 2n])).toBe(hash('d1'));
    expect(await refusalOf(push(owner, 4))).toBe('OutOfSequence');
    expect(await refusalOf(push(owner, 0))).toBe('OutOfSequence');
    expect(await refusalOf(push(owner, 2, hash('d2')))).toBe('DifferentDigest');
  });

  it('records several pushes together, all or none', async () => {
    const many = (...numbers: bigint[]) =>
      inBlock(
        registryOf(ANVIL_KEYS[0]).write.pushMany([
          numbers.map((number) => ({
            deployment,
            number,
            entryHash: hash('e1'),
            digest: hash('d1'),
            data: '0x' as const,
          })),
        ]),
      );
    await many(1n, 2n, 3n);
    expect(await refusalOf(many(4n, 6n))).toBe('OutOfSequence');
    await many(2n, 3n, 4n);
    expect((await evm.pushed()).map(({ number }) => number)).toEqual([1n, 2n, 3n, 4n]);
  });

  it('takes pushes from its pushers alone, whom its owner alone names', async () => {
    const [owner, other] = ANVIL_KEYS;
    const account = privateKeyToAccount(other).address;
    const setPusher = (key: Hex, pusher: Hex, isAllowed: boolean) =>
      inBlock(registryOf(key).write.setPusher([pusher, isAllowed]));
    expect(await refusalOf(push(other, 1))).toBe('NotPusher');
    expect(await refusalOf(setPusher(other, account, true))).toBe('NotOwner');
    await setPusher(owner, account, true);
    await push(other, 1);
    await setPusher(owner, privateKeyToAccount(owner).address, false);
    expect(await refusalOf(push(owner, 2))).toBe('NotPusher');
  });

  it('changes its owner in two steps, so that none is lost', async () => {
    const [owner, other, stranger] = ANVIL_KEYS;
    const [ownAddress, account] = [owner, other].map((key) => privateKeyToAccount(key).address) as [Hex, Hex];
    const registry = registryOf(owner);
    const offer = (key: Hex, to: Hex) => inBlock(registryOf(key).write.offerOwner([to]));
    const accept = (key: Hex) => inBlock(registryOf(key).write.acceptOwner());
    expect(await refusalOf(accept(other))).toBe('NotOffered');
    expect(await refusalOf(offer(stranger, account))).toBe('NotOwner');
    await offer(owner, account);
    expect(await registry.read.owner()).toBe(ownAddress);
    expect(await refusalOf(accept(stranger))).toBe('NotOffered');
    // Offered to nobody, it is taken back.
    await offer(owner, zeroAddress);
    expect(await refusalOf(accept(other))).toBe('NotOffered');
    await offer(owner, account);
    await accept(other);
    expect(await registry.read.owner()).toBe(account);
    expect(await refusalOf(offer(owner, ownAddress))).toBe('NotOwner');
    expect(await refusalOf(accept(other))).toBe('NotOffered');
    expect(await refusalOf(inBlock(registry.write.setPusher([ownAddress, false])))).toBe('NotOwner');
    // What changes hands is the ownership alone: the signer still pushes.
    await push(owner, 1);
  });
});
