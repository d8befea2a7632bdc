/**
 * A content type of one's own, in one file: JSON documents that list others, as many APIs have them.
 *
 *     {"name": "tulips", "items": [{"href": "/tulips/1.json"}, …], "next": "/tulips?page=2"}
 */

/** @type {import('orbweaver').ContentHandler<{ listField: string }>} */
export default {
  types: ['application/json', 'application/*+json'],

  read(content, { listField }) {
    const document = JSON.parse(content.text());
    const listed = document[listField] ?? [];
    return {
      title: document.name ?? null,
      text: document.description ?? '',
      links: [...listed.map(({ href }) => href), ...(document.next === undefined ? [] : [document.next])],
      data: { items: listed.length },
    };
  },
};
