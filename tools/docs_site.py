"""A hook for MkDocs. Adds pages that are not in docs/, and makes links work both in the site and in the source tree."""

import posixpath
import re
from collections.abc import Iterator

import docs_program
from docs_program import ROOT
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Pages of the source tree that are part of the site, with their paths there.
FROM_THE_TREE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "analysis/README.md": "python.md",
    "configs/experiments/README.md": "experiments.md",
    "configs/machines/README.md": "machine-files.md",
    "examples/README.md": "examples.md",
    "examples/advice/README.md": "examples-advice.md",
    "examples/memcached/README.md": "examples-memcached.md",
    "examples/programs/README.md": "examples-programs.md",
    "programs/README.md": "lua-programs.md",
    "record/README.md": "recording.md",
    "models/protocols/README.md": "protocols/index.md",
    "litmus/models/README.md": "memory-models.md",
}

HOME = "---\nhide: [navigation]\n---\n\n"  # hides a column that would show only the name of the page

# Matches code, in which nothing is a link, or matches a link or picture.
CODE_OR_LINK = re.compile(
    r"(?P<code>^```.*?^```$|(?<!\[)`[^`\n]+`)|\[(?P<text>(?:`[^`]*`|[^]`[])*)\]\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)


def from_the_tree() -> Iterator[tuple[str, str]]:
    """Pairs of a page's path in the source tree and its path in the site."""
    yield from FROM_THE_TREE.items()
    for path in sorted((ROOT / "models" / "protocols").glob("*.md")):
        if path.name != "README.md":
            yield f"models/protocols/{path.name}", f"protocols/{path.name}"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, page in from_the_tree():
        text = HOME * (page == "index.md") + (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for page, text in docs_program.pages(docs_program.Program()).items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Replaces paths in the source tree by paths in the site. If a link's target is not in the site, only the link's
    text stays."""
    sites = dict(from_the_tree())
    here = page.file.src_uri
    source = next((path for path, of_site in sites.items() if of_site == here), f"docs/{here}")

    def in_site(target: str, *folders: str) -> str | None:
        """The target's path relative to this page, for the first of these folders in which the site has the target.
        None if no folder has it."""
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, target))
            found = sites.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
            file = files.get_file_from_path(found) if found else None
            if found and file and file.inclusion.is_included():  # type: ignore[no-untyped-call]
                return posixpath.relpath(found, posixpath.dirname(here) or ".")
        return None

    def replaced(match: re.Match[str]) -> str:
        folder = posixpath.dirname(source)
        if code := match["code"]:
            # In the site, a page named in code becomes a link.
            link = in_site(code.strip("`"), folder, "") if code.endswith(".md`") and source != f"docs/{here}" else None
            return f"[{code}]({link})" if link else code
        path, hash_, anchor = match["target"].partition("#")
        if not path or "://" in path:
            return match[0]
        link = in_site(path, folder)
        if link is None and (ROOT / folder / path).exists():
            return match["text"]
        return f"[{match['text']}]({link or path}{hash_}{anchor})"

    return CODE_OR_LINK.sub(replaced, markdown)
