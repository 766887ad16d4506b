import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

export interface DialogProps {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  /** Wide enough for an editor. */
  wide?: boolean | undefined;
}

/** A dialog over the page: Escape and a click beside it close it, and the focus goes back to where it was. */
export const Dialog = ({ title, open, onClose, children, wide = false }: DialogProps) => (
  <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
      <Base.Popup
        className={`fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-surface shadow-xl ${wide ? 'max-w-4xl' : 'max-w-lg'}`}
      >
        <div className="flex items-start gap-3 border-b border-line px-4 py-3">
          <Base.Title className="grow text-lg font-semibold">{title}</Base.Title>
          <Base.Close
            aria-label="Close"
            className="-mr-1 rounded-md px-2 text-lg leading-6 text-muted hover:bg-hover hover:text-text"
          >
            ×
          </Base.Close>
        </div>
        <div className="overflow-y-auto px-4 py-4">{children}</div>
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);

/** The row of buttons at the end of a dialog or a form. */
export const Actions = ({ children }: { children: ReactNode }) => (
  <div className="mt-4 flex flex-wrap justify-end gap-2">{children}</div>
);
