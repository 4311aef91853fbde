"""Firmware's sources are the same in most folders: with ccache, where it is installed, each is compiled once for the host."""
import os


def compile_once(folder):
    """From now on compilers that are started take from a cache in this folder, and leave there, what they make."""
    if os.path.isdir("/usr/lib/ccache"):
        os.environ["PATH"] = "/usr/lib/ccache:" + os.environ["PATH"]
        os.environ["CCACHE_DIR"] = os.path.join(folder, "ccache")
        os.environ["CCACHE_NOHASHDIR"] = "1"  # a debugger may be told of another of the folders
