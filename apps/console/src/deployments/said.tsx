/** What the service said beside an answer, such as warnings. */
export const Said = ({ message }: { message: string | undefined }) =>
  message ? (
    <p role="status" className="my-3 rounded-md border border-warn/40 bg-warn-soft px-3.5 py-2.5 break-words">
      {message}
    </p>
  ) : null;
