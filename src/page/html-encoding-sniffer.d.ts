declare module 'html-encoding-sniffer' {
  export default function sniff<Default extends string | null>(
    bytes: Uint8Array,
    options: { xml?: boolean; transportLayerEncodingLabel?: string | undefined; defaultEncoding: Default },
  ): string | Default;
}
