// What `catalogues.ts`, beside the sources, makes of the catalogues in locale/.

declare module "virtual:catalogue/*" {
  const texts: Readonly<Record<string, string>>;
  export default texts;
}
