/** A JSON value in its written form, put together from what had been checked: nobody checks or writes it again. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
