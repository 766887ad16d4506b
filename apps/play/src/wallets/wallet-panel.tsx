import { useEffect, useRef, useState } from 'preact/hooks';
import { Address, Notice } from '../ui/parts.js';
import { canMakeWallets, exportWallet, forgetWallet, importWallet, makeWallet } from './made-wallet.js';
import { connectEthereum, connectSolana, injected, type PlayerWallet, wordsOf } from './wallets.js';

interface PanelProps {
  readonly wallet: PlayerWallet | undefined;
  readonly onChange: (wallet: PlayerWallet | undefined) => void;
}

const KINDS = {
  made: 'a wallet of this browser',
  ethereum: 'your Ethereum wallet',
  solana: 'your Solana wallet',
} as const;

/** Who plays: a wallet of an extension, or one that the page makes and keeps. */
export function WalletPanel({ wallet, onChange }: PanelProps) {
  const [fault, setFault] = useState<string>();
  const found = useInjected();
  const choose = (connect: () => Promise<PlayerWallet>) => () => {
    setFault(undefined);
    connect().then(onChange, (error: unknown) => setFault(wordsOf(error)));
  };
  return (
    <div class="wallet">
      {wallet === undefined ? (
        <>
          <p>Your plays are signed by a wallet. Choose yours, or let the page make one.</p>
          <div class="buttons">
            {canMakeWallets() && (
              <button type="button" onClick={choose(make)}>
                Make one here
              </button>
            )}
            {found.ethereum && (
              <button type="button" onClick={choose(connectEthereum)}>
                Ethereum wallet
              </button>
            )}
            {found.solana && (
              <button type="button" onClick={choose(connectSolana)}>
                Solana wallet
              </button>
            )}
          </div>
          <ImportWallet onImport={(text) => choose(async () => made(await importWallet(text)))()} />
          {!canMakeWallets() && (
            <Notice tone="warn">To make a wallet here the page has to be opened over HTTPS.</Notice>
          )}
        </>
      ) : (
        <>
          <p>
            You are <Address of={wallet.address} />, with {KINDS[wallet.kind]}.
          </p>
          {wallet.kind === 'made' ? (
            <MadeWalletTools
              address={wallet.address}
              onForget={() => onChange(undefined)}
              onFault={setFault}
            />
          ) : (
            <button type="button" class="quiet" onClick={() => onChange(undefined)}>
              Use another one
            </button>
          )}
        </>
      )}
      {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
    </div>
  );
}

const made = (by: Awaited<ReturnType<typeof makeWallet>>): PlayerWallet => ({
  kind: 'made',
  address: by.address,
  by,
});
const make = async () => made(await makeWallet());

/** Extensions put themselves into a page while it loads, or a moment later. */
function useInjected(): { ethereum: boolean; solana: boolean } {
  const look = () => ({
    ethereum: injected().ethereum !== undefined,
    solana: injected().solana !== undefined,
  });
  const [found, setFound] = useState(look);
  useEffect(() => {
    const timer = setTimeout(() => setFound(look()), 1000);
    return () => clearTimeout(timer);
  }, []);
  return found;
}

/** What is said of a wallet that the page keeps, and what may be done with it. */
function MadeWalletTools({
  address,
  onForget,
  onFault,
}: {
  readonly address: string;
  readonly onForget: () => void;
  readonly onFault: (text: string) => void;
}) {
  const [isSure, setSure] = useState(false);
  const forget = () => {
    forgetWallet(address);
    onForget();
  };
  const save = () => {
    try {
      download(exportWallet(address));
    } catch (error) {
      onFault(wordsOf(error));
    }
  };
  return (
    <>
      <p class="unsafe">
        <b>Not safe for money.</b> Its key lies unprotected in this browser: whoever uses the browser, and any
        page of {location.host}, can read it. Do not send anything to it.
      </p>
      <div class="buttons">
        <button type="button" class="quiet" onClick={save}>
          Export the key
        </button>
        {isSure ? (
          <button type="button" class="danger" onClick={forget}>
            Forget it for ever
          </button>
        ) : (
          <button type="button" class="quiet" onClick={() => setSure(true)}>
            Forget it
          </button>
        )}
      </div>
    </>
  );
}

/** The key file, in the format of Solana's tools. */
function download(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: 'orrery-wallet.json' });
  link.click();
  URL.revokeObjectURL(url);
}

function ImportWallet({ onImport }: { onImport: (text: string) => void }) {
  const file = useRef<HTMLInputElement>(null);
  const read = async () => {
    const [chosen] = file.current?.files ?? [];
    if (chosen !== undefined) onImport(await chosen.slice(0, 4096).text());
  };
  return (
    <label class="import">
      <span>Use one that I have exported</span>
      <input
        ref={file}
        class="hidden"
        type="file"
        accept="application/json,.json"
        onChange={() => void read()}
      />
    </label>
  );
}
