declare module 'virtual:doc-pages' {
  const pages: readonly { readonly title: string; readonly url: string }[];
  export default pages;
}
