// What a page carries much of is compressed in it (poet/report/packed.h).

/** The JSON in a text of base 64 that holds it compressed. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
